# SPDX-License-Identifier: Apache-2.0
"""Units that are trained: the parameters are inputs of the fetch, so that gradients reach them, and what autograd would
save of a slot is fetched again in the backward, in a unit of its own. In eager by hooks of saved tensors; joint.py has
what is done to a compiled graph."""

import weakref

import torch

from hoist.torch import compat, native
from hoist.torch.nested import first_tensor, leaves


class _Fetch(torch.autograd.Function):
    """Gives the unit's tensors; sends their gradients to the parameters, where these are."""

    @staticmethod
    def forward(ctx, views, *parameters):
        ctx.devices = [parameter.device for parameter in parameters]
        # A tensor that autograd writes into must be its own, not one that is kept.
        given = [view.view_as(view) for view in views]
        ctx.mark_non_differentiable(*(g for g, p in zip(given, parameters) if not p.requires_grad))
        return tuple(given)

    @staticmethod
    def backward(ctx, *gradients):
        return None, *(g if g is None else g.to(device) for g, device in zip(gradients, ctx.devices))


class _Saved:
    """What stands for a tensor of a slot in the graph of autograd."""

    def __init__(self, unit, leaf: int, tensor: torch.Tensor, offset: int):
        self.unit, self.leaf = unit, leaf
        self.size, self.stride, self.dtype, self.offset = tensor.shape, tensor.stride(), tensor.dtype, offset

    def fetch(self) -> torch.Tensor:
        base = self.unit.manager.backward.views(self.unit)[self.leaf]
        whole = torch.empty(0, dtype=self.dtype, device=base.device)
        return whole.set_(base.untyped_storage(), self.offset, self.size, self.stride)


def _saving(unit, fetched: list[torch.Tensor]):
    leaf_at = {view.untyped_storage().data_ptr(): number for number, view in enumerate(fetched)}

    def pack(tensor: torch.Tensor):
        if not compat.is_wrapper_subclass(tensor) and tensor.layout is torch.strided:
            leaf = leaf_at.get(tensor.untyped_storage().data_ptr())
            if leaf is not None:
                return _Saved(unit, leaf, tensor, tensor.storage_offset())
        # A result that its own node saved would keep the graph, and this unit with it, for ever.
        return tensor if tensor.grad_fn is None else tensor.detach()

    def unpack(saved):
        return saved.fetch() if isinstance(saved, _Saved) else saved

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


def run_unit(unit, forward, module, args, kwargs):
    manager = unit.manager
    manager.backward.close()  # a checkpointed region runs its forward again in the middle of a backward
    with torch.no_grad():
        anchor = manager.anchor(first_tensor(args, kwargs))
        fetched = native.fetch(anchor, manager.token, unit.key, unit.index)
    views = _Fetch.apply(unit.tensors_of(fetched), *(slot.parameter for slot in unit.slots))
    outer, unit.views = unit.views, list(views)
    try:
        with _saving(unit, fetched):
            out = forward(module, *args, **kwargs)
    except BaseException:
        unit.views = outer
        native.unit_end(fetched[0], [], unit.key, unit.index)
        raise
    unit.views = outer
    left = leaves(out)
    manager.token = native.unit_end(fetched[0], left, unit.key, unit.index)
    unit.require_its_own(left, fetched)
    manager.backward.expected |= any(leaf.requires_grad for leaf in left)
    return out


def trace_unit(unit, forward, module, args, kwargs):
    """The same in a graph that is being traced."""
    manager = unit.manager
    if any(slot.build is not None and slot.parameter.requires_grad for slot in unit.slots):
        raise NotImplementedError(f'hoist.torch: unit "{unit.name}" has parameters made of several tensors that want gradients '
                                  "in a compiled graph (freeze them, exclude them, or train in eager)")
    anchor = manager.anchor(first_tensor(args, kwargs))
    fetched = native.fetch_trained(anchor, manager.token, unit.parameters(), unit.key, unit.index)
    outer, unit.views = unit.views, unit.tensors_of(fetched)
    out = forward(module, *args, **kwargs)
    unit.views = outer
    manager.token = native.unit_end(fetched[0], [leaf.detach() for leaf in leaves(out)], unit.key, unit.index)
    return out


class Backward:
    """The units of a backward: one is open at a time, from the first tensor of it that is wanted to the next unit's."""

    def __init__(self, manager):
        self.manager = manager
        self.expected = False  # a forward has left tensors to be fetched again
        self._running = False
        self._unit = None
        self._views = None

    def views(self, unit) -> list[torch.Tensor]:
        if self._unit is not unit:
            self._begin()
            self.close()
            with torch.no_grad():
                token = self.manager.token
                self._views = native.fetch(token, token, unit.key, unit.index + self.manager.backward_offset)
            self._unit = unit
        return self._views

    def is_open(self) -> bool:
        """Whether a unit is: after the backward only where it has raised."""
        return self._unit is not None

    def _begin(self) -> None:
        if self._running:
            return
        self._running = True
        self.manager.ensure_step()
        compat.queue_after_backward(self._end)

    def close(self) -> None:
        """Ends the open unit, if there is one: all that reads it has been submitted."""
        if self._unit is None:
            return
        unit, views, self._unit, self._views = self._unit, self._views, None, None
        with torch.no_grad():
            self.manager.token = native.unit_end(views[0], [], unit.key, unit.index + self.manager.backward_offset)

    def forget(self) -> None:
        self._running = self.expected = False
        self._unit = self._views = None

    def _end(self) -> None:
        self.close()
        self._running = self.expected = False
        self.manager.end_step_after_backward()


def watch_optimizers(manager) -> list:
    """An optimizer changes parameters with nothing in flight, and the device sees it; gives handles to remove."""
    from torch.optim import optimizer as optim

    seen = weakref.ref(manager)  # torch keeps the hooks

    def owner(optimizer):
        """The manager, where the optimizer has parameters of its."""
        manager = seen()
        mine = {id(slot.parameter) for slot in manager.slots} if manager is not None else ()
        has_ours = any(id(parameter) in mine for group in optimizer.param_groups for parameter in group["params"])
        return manager if has_ours else None

    def before(optimizer, args, kwargs):
        if (manager := owner(optimizer)) is not None:
            manager.settle()

    def after(optimizer, args, kwargs):
        if (manager := owner(optimizer)) is not None:
            manager.refresh(only_changed=True)

    return [optim.register_optimizer_step_pre_hook(before), optim.register_optimizer_step_post_hook(after)]
