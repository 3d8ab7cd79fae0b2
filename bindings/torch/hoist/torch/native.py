# SPDX-License-Identifier: Apache-2.0
"""libhoist_torch.so: its ops, what they look like to a tracer, and its calls beside the ops."""

import ctypes
import os
import threading
import weakref

import torch

import hoist
from hoist.torch import compat, graphs

compat.require_version()
_path = os.path.join(os.path.dirname(__file__), "libhoist_torch.so")
torch.ops.load_library(_path)
library = ctypes.CDLL(_path)
library.hoist_torch_failure.restype = ctypes.c_char_p
library.hoist_torch_close.restype = None
library.hoist_torch_thread.restype = ctypes.c_uint64
library.hoist_torch_turn_count.restype = ctypes.c_uint64

ops = torch.ops.hoist
step_begin = ops.step_begin.default
fetch = ops.fetch.default
unit_end = ops.unit_end.default
step_end = ops.step_end.default
step_next = ops.step_next.default  # what step_begin becomes where it is not a graph's first: see compile.py
# Of compiled training: see joint.py.
fetch_trained = ops.fetch_trained.default
forward_end = ops.forward_end.default
step_mark = ops.step_mark.default
backward_begin = ops.backward_begin.default
send_gradient = ops.send_gradient.default
receive_gradients = ops.receive_gradients.default
OF_FORWARDS = (step_begin, step_next, fetch, unit_end, step_end, fetch_trained, forward_end, step_mark)
OPS = (*OF_FORWARDS, backward_begin, send_gradient, receive_gradients)

_captured: set[int] = set()  # models whose stream on the host device is being captured
# Managers of models by the number that graphs carry.
_managers: "weakref.WeakValueDictionary[int, object]" = weakref.WeakValueDictionary()
_taken: set[int] = set()  # numbers of models, until they are closed
_naming = threading.Lock()


class _Failure(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), *((name, ctypes.c_char_p) for name in ("name", "message", "where", "hint"))]


def _failure() -> "Exception | None":
    """What went wrong last on this thread, once; None where it was nothing of hoist's."""
    found = _Failure()
    if not library.hoist_torch_take_failure(ctypes.byref(found)):
        return None
    name, message, where, hint = (getattr(found, field).decode() for field in ("name", "message", "where", "hint"))
    return hoist.errors._make(found.code, name, message, where, hint) if found.code else RuntimeError(message)


def check(status: int) -> None:
    if status != 0:
        raise _failure() or RuntimeError(library.hoist_torch_failure().decode())


def typed(call):
    """torch makes a RuntimeError of what an op throws; hoist's own exception comes out instead."""
    def wrapped(*args, **kwargs):
        try:
            return call(*args, **kwargs)
        except RuntimeError as error:
            mine = _failure()
            if mine is None or getattr(mine, "message", str(mine)) not in str(error):
                raise
            raise mine.with_traceback(error.__traceback__) from None

    return wrapped


def _refusing(call):
    """A step that a compiled graph begins runs no Python of the model's; its capture is judged here."""
    def begin(*args):
        manager = _managers.get(args[-1])
        if manager is not None and manager.capturing():
            graphs.require_serving(manager)
        return call(*args)

    return begin


def _refusing_gradients(call):
    """The halves of a compiled graph that is trained."""
    def half(*args):
        manager = _managers.get(args[-1])
        if manager is not None and manager.capturing():
            abort(args[-1])
            graphs.refuse_gradients()
        return call(*args)

    return half


for _op in OPS:
    compat.wrap_calls(_op, typed)
for _op in (forward_end, backward_begin):
    compat.wrap_calls(_op, _refusing_gradients)
for _op in (step_begin, step_next):
    compat.wrap_calls(_op, _refusing)


def open_model(key: int, native_manager, native_device, device: torch.device, budget) -> None:
    index = device.index if device.index is not None else 0 if device.type == "cuda" else -1
    check(library.hoist_torch_open(ctypes.c_int64(key), ctypes.c_void_p(native_manager.pointer),
                                     ctypes.c_void_p(native_device.pointer), compat.device_number(device.type), index,
                                     ctypes.c_int64(id(budget))))  # models on one budget share their turns


def close_model(key: int) -> None:
    library.hoist_torch_close(ctypes.c_int64(key))
    _managers.pop(key, None)
    _taken.discard(key)  # from here on another model may have the number


def name_model(base: int, manager) -> int:
    """The first number from `base` on that no model has, and the manager's from now on: threads offload at once."""
    with _naming:
        key = next(base + number for number in range(1 << 16) if base + number not in _taken)
        _taken.add(key)
        _managers[key] = manager
        return key


def add_leaf(key: int, unit: int, tensor: int, view: int, offset: int, like: torch.Tensor) -> None:
    """One more tensor that the unit gives out: shaped as `like`, `offset` bytes into the unit's view."""
    rank = like.dim()
    shape = ctypes.c_int64 * max(rank, 1)
    check(library.hoist_torch_add_leaf(ctypes.c_int64(key), unit, tensor, view, ctypes.c_uint64(offset),
                                         compat.dtype_number(like.dtype), rank, shape(*like.shape), shape(*like.stride())))


def take(key: int) -> None:
    """Waits until no other thread is inside a step of the model, and keeps others out until this thread's step is over."""
    check(library.hoist_torch_take(ctypes.c_int64(key)))


def take_for_forward(key: int) -> None:
    """The same for a forward, which goes on in a step of this thread that another model on the budget has open."""
    check(library.hoist_torch_take_for_forward(ctypes.c_int64(key)))


def abort(key: int) -> None:
    check(library.hoist_torch_abort(ctypes.c_int64(key)))


def settle(key: int) -> None:
    """Waits until no other thread is inside, ends a step whose backward has not come, and gives one up that an exception has left."""
    check(library.hoist_torch_settle(ctypes.c_int64(key)))


def step_number(key: int) -> int:
    """Of the step that this thread is inside; no other step of any model has it."""
    step = ctypes.c_uint64()
    check(library.hoist_torch_step(ctypes.c_int64(key), ctypes.byref(step)))
    return step.value


def await_backward(key: int) -> None:
    """The forward is over, its step is not."""
    check(library.hoist_torch_forward_end(ctypes.c_int64(key)))


def awaits_backward(key: int) -> bool:
    awaits = ctypes.c_int()
    check(library.hoist_torch_awaits_backward(ctypes.c_int64(key), ctypes.byref(awaits)))
    return bool(awaits.value)


def drop_step(key: int, step: int) -> None:
    """Nobody can go back through the forward that was in the step; no error where the model is gone."""
    library.hoist_torch_drop(ctypes.c_int64(key), ctypes.c_uint64(step))
    library.hoist_torch_take_failure(ctypes.byref(_Failure()))


def thread() -> int:
    """A number of the calling thread, never 0."""
    return library.hoist_torch_thread()


def join_step(key: int, step: int, asker: int) -> int:
    """For a backward of the forward that was in the step (0: whichever of the asker's waits): waits for a turn, unless it is
    inside already; gives the number of the step that the backward is part of. asker: the thread() that has asked for the
    backward, which on a GPU runs in one of torch's; 0: it is not known."""
    joined = ctypes.c_uint64()
    check(library.hoist_torch_backward_begin(ctypes.c_int64(key), ctypes.c_uint64(step), ctypes.c_uint64(asker),
                                             ctypes.byref(joined)))
    return joined.value


def leave_step(key: int, step: int, failed: bool) -> None:
    """A backward is over, and with the last of them the step, unless that is a forward's; failed: by an exception."""
    check(library.hoist_torch_backward_end(ctypes.c_int64(key), ctypes.c_uint64(step), int(failed)))


def forget_tensors(key: int) -> None:
    check(library.hoist_torch_forget_tensors(ctypes.c_int64(key)))


def gradients_sent(key: int) -> int:
    """How many gradients have been sent to host memory."""
    count = ctypes.c_uint64()
    check(library.hoist_torch_sent(ctypes.c_int64(key), ctypes.byref(count)))
    return count.value


def wait_for_gradients(key: int, count: int) -> None:
    """Until so many are there."""
    check(library.hoist_torch_receive(ctypes.c_int64(key), ctypes.c_uint64(count)))


_Watch = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint64)
BUCKET, WAKE, MISPREDICTED = 0, 1, 2  # events of watch


def watch(key: int, function) -> object:
    """Tells function(event, value) between two steps, compiled ones too; keep what it gives while the model is open."""
    kept = _Watch(function)
    check(library.hoist_torch_watch(ctypes.c_int64(key), kept))
    return kept


def wake_after(key: int, steps: int) -> None:
    """The WAKE event comes when so many further steps have ended; 0: never."""
    check(library.hoist_torch_wake_after(ctypes.c_int64(key), ctypes.c_uint64(steps)))


def watch_buckets(key: int) -> None:
    """The BUCKET event comes before a step whose first tensor is of another size, up to the next power of two."""
    check(library.hoist_torch_watch_buckets(ctypes.c_int64(key), 1))


def capture_begin(key: int) -> int:
    """From here on the model's stream on the host device goes into a graph; gives the hoist_stream_t's address."""
    stream = ctypes.c_void_p()
    check(library.hoist_torch_capture_begin(ctypes.c_int64(key), ctypes.byref(stream)))
    _captured.add(key)
    return stream.value


def capture_end(key: int) -> int:
    """Gives the hoist_graph_t's address, which is the caller's."""
    _captured.discard(key)
    graph = ctypes.c_void_p()
    check(library.hoist_torch_capture_end(ctypes.c_int64(key), ctypes.byref(graph)))
    return graph.value


def is_capturing(key: int, device: torch.device) -> bool:
    """Whether the step that this thread runs goes into a graph instead."""
    return torch.cuda.is_current_stream_capturing() if device.type == "cuda" else key in _captured


def counters(key: int) -> dict[str, int]:
    values = (ctypes.c_uint64 * 4)()
    check(library.hoist_torch_counters(ctypes.c_int64(key), values))
    return dict(zip(("steps", "fetches", "strays", "mispredicted_steps"), values))


# --- what a tracer sees: fresh tensors with exact strides, tokens of one byte ---


def _manager(key: int):
    try:
        return _managers[key]
    except KeyError:
        raise RuntimeError(f"hoist.torch: the model has been released (offload it, and compile again); its key was {key}") from None


def backward_offset(key: int) -> int:
    return _manager(key).backward_offset


def _token(key: int) -> torch.Tensor:
    return torch.empty(1, dtype=torch.uint8, device=_manager(key).device)


@torch.library.register_fake("hoist::step_begin")
def _(anchor, model):
    return _token(model)


@torch.library.register_fake("hoist::step_next")
def _(anchor, after, model):
    return _token(model)


@torch.library.register_fake("hoist::fetch")
def _(anchor, token, model, unit):
    manager = _manager(model)
    return [torch.empty_strided(size, stride, dtype=dtype, device=manager.device)
            for size, stride, dtype in manager.shapes(unit)]


@torch.library.register_fake("hoist::fetch_trained")
def _(anchor, token, parameters, model, unit):
    return fetch(anchor, token, model, unit)


@torch.library.register_fake("hoist::forward_end")
def _(leaving, token, model):
    return _token(model)


@torch.library.register_fake("hoist::step_mark")
def _(token, model):
    return torch.empty(2, dtype=torch.int64)


@torch.library.register_fake("hoist::backward_begin")
def _(anchor, mark, model):
    return _token(model)


@torch.library.register_fake("hoist::send_gradient")
def _(gradient, model):
    like = gradient if compat.is_one_range(gradient) else gradient.contiguous()
    return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype)


@torch.library.register_fake("hoist::receive_gradients")
def _(sent, after, model):
    return [torch.empty_strided(each.shape, each.stride(), dtype=each.dtype) for each in sent]


def _backward_begin(anchor, mark, model):
    _manager(model).backward.enter(*mark.tolist())
    return _token(model)


_in_python = torch.library.Library("hoist", "IMPL")
for _device in ("CPU", "CUDA"):
    _in_python.impl("backward_begin", _backward_begin, _device)


@torch.library.register_fake("hoist::unit_end")
def _(first, leaving, model, unit):
    return _token(model)


@torch.library.register_fake("hoist::step_end")
def _(leaving, token, model):
    return _token(model)


# --- gradients go to the parameters, where these are ---


def _keep_devices(ctx, inputs, output):
    _, _, parameters, model, unit = inputs
    ctx.set_materialize_grads(False)  # what nobody reads has no gradient
    ctx.model, ctx.unit = model, unit
    ctx.devices = [parameter.device if parameter.requires_grad else None for parameter in parameters]


def _to_parameters(ctx, gradients):
    """Those that go to host memory are sent there together, and received together; joint.py puts that off to the end."""
    manager = _manager(ctx.model)
    given = [gradients[leaf] if device is not None else None
             for leaf, device in zip(manager.units[ctx.unit].leaves_of_parameters(), ctx.devices)]
    given = [g if g is None or device.type == "cpu" and manager.sends_gradients else g.to(device)
             for g, device in zip(given, ctx.devices)]
    away = [at for at, g in enumerate(given) if g is not None and manager.sends_gradients and ctx.devices[at].type == "cpu"]
    if away:
        sent = [send_gradient(given[at], ctx.model) for at in away]
        for at, received in zip(away, receive_gradients(sent, sent[0], ctx.model)):
            given[at] = received
    return None, None, given, None, None


torch.library.register_autograd("hoist::fetch_trained", _to_parameters, setup_context=_keep_devices)
