# SPDX-License-Identifier: Apache-2.0
"""Every version gate and every private name of torch that hoist.torch uses, and nothing else."""

import ctypes
import functools
import operator
import os

import torch
import torch.utils._pytree as pytree
from torch.utils._python_dispatch import is_traceable_wrapper_subclass as is_wrapper_subclass  # noqa: F401

MINIMUM = (2, 11)
VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])

tree_leaves = pytree.tree_leaves
getitem = operator.getitem


def require_version() -> None:
    if VERSION < MINIMUM:
        raise ImportError(f"hoist.torch: torch {torch.__version__} is too old (install torch {MINIMUM[0]}.{MINIMUM[1]} or later)")


@functools.cache
def libtorch() -> ctypes.CDLL:
    return ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))


def dtype_number(dtype: torch.dtype) -> int:
    """torch's stable number of a dtype."""
    name = {torch.complex64: "complex64", torch.complex128: "complex128"}.get(dtype, str(dtype).removeprefix("torch."))
    try:
        return getattr(libtorch(), f"aoti_torch_dtype_{name}")()
    except AttributeError:
        raise TypeError(f"hoist.torch: tensors of {dtype} cannot be streamed (exclude them by name)") from None


def device_number(kind: str) -> int:
    return getattr(libtorch(), f"aoti_torch_device_type_{kind}")()


def is_compiled(module: torch.nn.Module) -> bool:
    """Whether torch.compile has wrapped the module or any in it, so that a patch of it would come too late."""
    from torch._dynamo.eval_frame import OptimizedModule

    return any(isinstance(m, OptimizedModule) or getattr(m, "_compiled_call_impl", None) is not None
               for m in module.modules())


def compile_whole(model: torch.nn.Module) -> None:
    model.compile(fullgraph=True)


def as_one_node(function):
    """A function of tensors that dynamo calls, and does not look into."""
    import torch._dynamo

    return torch._dynamo.allow_in_graph(function)


def forget_compiled(model: torch.nn.Module) -> None:
    """Undoes compile_whole."""
    model.__dict__.pop("_compiled_call_impl", None)


def wrap_calls(op: torch._ops.OpOverload, wrap) -> None:
    """Calls of the op from Python, those of compiled graphs among them, go through wrap(call)."""
    op._op = wrap(op._op)


def keep_in_graphs(op: torch._ops.OpOverload) -> None:
    """No pass drops a call of the op whose results are unused."""
    torch.fx.node.has_side_effect(op)


def register_ordered(op: torch._ops.OpOverload):
    """Compilers keep the op and its order among its likes; a handle whose destroy() takes that back."""
    from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

    return _register_effectful_op(op, _EffectType.ORDERED)


def is_one_range(tensor: torch.Tensor) -> bool:
    """Whether the elements are one range of bytes, in whatever order of dimensions."""
    return torch._prims_common.is_non_overlapping_and_dense_or_false(tensor)


def look_through(tensor: torch.Tensor, conjugated: bool, negated: bool) -> torch.Tensor:
    """The tensor as one sees it that is marked so."""
    tensor = tensor.conj() if conjugated else tensor
    return torch._neg_view(tensor) if negated else tensor


def queue_after_backward(function) -> None:
    """Calls the function when the backward is over in which this is called, and drops it where that raises."""
    torch.autograd.Variable._execution_engine.queue_callback(function)


def backward_number() -> int:
    """A number for the backward that this thread runs a part of; -1 outside of any."""
    return torch._C._current_graph_task_id()


# --- inductor: how the ops are lowered, and a pass over its graphs (see compile.py) ---


def lowerings() -> dict:
    from torch._inductor.lowering import lowerings as table

    return table


def make_fallback(op: torch._ops.OpOverload):
    """Inductor's ordinary lowering of an op that it does not know: a call of it."""
    from torch._inductor import lowering

    if op not in lowering.fallbacks:
        lowering.fallbacks.add(op)
    lowering.needs_realized_inputs.add(op)
    return lowering.fallback_handler(op, add_to_fallback_set=False)


def never_reuse(outputs) -> None:
    """Inductor neither writes into these buffers of its present graph nor gives their memory to others."""
    from torch._inductor.virtualized import V

    for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
        output.realize()
        V.graph.never_reuse_buffers.add(output.get_name())


def makes_graphs() -> bool:
    """Whether what is being compiled goes into graphs of torch's own on a GPU: mode="reduce-overhead"."""
    import torch._inductor.config as config

    return bool(config.triton.cudagraphs)


def current_node() -> torch.fx.Node | None:
    from torch._inductor.virtualized import V

    return V.graph.current_node


def inductor_passes():
    """The place of the pass that inductor runs last over a graph."""
    import torch._inductor.config as config

    return config, "post_grad_custom_post_pass"


def inductor_first_pass():
    """The place of the pass that inductor runs first over a graph, joint graphs among them."""
    import torch._inductor.config as config

    return config, "joint_custom_pre_pass"


def inductor_partitioner():
    """The place of the partitioner of joint graphs."""
    import torch._inductor.config as config

    return config, "custom_partitioner_fn"


def side_effects_in_checkpoints():
    """Whether dynamo lets a checkpointed region change what is outside of it (units hand their token on); the change is
    not made again in the backward, where nothing would read it."""
    import torch._dynamo.config as config

    return config, "skip_fwd_side_effects_in_bwd_under_checkpoint"


def partitioner_base() -> type:
    from torch._inductor.custom_graph_pass import CustomPartitionerFn

    return CustomPartitionerFn


def partition(joint, inputs, **kwargs):
    """What inductor splits joint graphs with where nobody says otherwise."""
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    return min_cut_rematerialization_partition(joint, inputs, **kwargs)


def only_in_forward(node: torch.fx.Node) -> None:
    node.meta["partitioner_tag"] = "must_be_in_forward"
    must_save(node)


def is_tangent(node: torch.fx.Node) -> bool:
    """Whether an input of a joint graph is a gradient that comes in."""
    return "tangents" in str(node.target)


def must_save(node: torch.fx.Node) -> None:
    from torch.utils.checkpoint import CheckpointPolicy

    node.meta["recompute"] = CheckpointPolicy.MUST_SAVE


def must_recompute(node: torch.fx.Node) -> None:
    from torch.utils.checkpoint import CheckpointPolicy

    node.meta["recompute"] = CheckpointPolicy.MUST_RECOMPUTE


def is_random(node: torch.fx.Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def caching_facts() -> tuple:
    """Settings that change what a backward may do to what it is given, and that torch's keys of cached graphs leave out."""
    import torch._functorch.config as functorch

    return (getattr(functorch, "donated_buffer", None),)


def pass_base() -> type:
    from torch._inductor.custom_graph_pass import CustomGraphPass

    return CustomGraphPass
