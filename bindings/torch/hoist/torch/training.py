# SPDX-License-Identifier: Apache-2.0
"""Units that are trained: the parameters are inputs of the fetch, so that gradients reach them, and what autograd would
save of a slot is fetched again in the backward, in a unit of its own. In eager by hooks of saved tensors; joint.py has
what is done to a compiled graph."""

import weakref

import torch

from hoist.torch import compat, native
from hoist.torch.nested import first_tensor, leaves


class _Arrival:
    """Of a unit's gradients: how many of the model's had been sent to host memory when the last of them was."""

    count = 0


class _Arrive(torch.autograd.Function):
    """The parameters; passes their gradients on once they are in host memory, before a hook or a sum can read them.

    Gradients that are there belong to autograd's queue for the host, so that the thread for the GPU goes on meanwhile."""

    @staticmethod
    def forward(ctx, key, arrival, *parameters):
        ctx.set_materialize_grads(False)
        ctx.key, ctx.arrival = key, arrival
        given = [parameter.view_as(parameter) for parameter in parameters]
        ctx.mark_non_differentiable(*(g for g, p in zip(given, parameters) if not p.requires_grad))
        return tuple(given)

    @staticmethod
    def backward(ctx, *gradients):
        native.wait_for_gradients(ctx.key, ctx.arrival.count)
        return None, None, *gradients


class _Fetch(torch.autograd.Function):
    """Gives the unit's tensors; sends their gradients to the parameters, where these are."""

    @staticmethod
    def forward(ctx, unit, step, arrival, views, *parameters):
        ctx.set_materialize_grads(False)
        ctx.key, ctx.step, ctx.arrival = unit.key, step, arrival
        ctx.devices = [parameter.device for parameter in parameters]
        # A tensor that autograd writes into must be its own, not one that is kept.
        given = [view.view_as(view) for view in views]
        ctx.mark_non_differentiable(*(g for g, p in zip(given, parameters) if not p.requires_grad))
        return tuple(given)

    @staticmethod
    def backward(ctx, *gradients):
        given = [_to_parameter(ctx, *pair) for pair in zip(gradients, ctx.devices)]
        if ctx.arrival is not None:
            ctx.arrival.count = native.gradients_sent(ctx.key)
        return None, None, None, None, *given


def _to_parameter(ctx, gradient, device):
    if gradient is None:
        return None
    plain = gradient.layout is torch.strided and not compat.is_wrapper_subclass(gradient)
    # A gradient that is to have gradients of its own is a function of this one; anomaly detection reads it here and now.
    looked_at = torch.is_grad_enabled() or torch.is_anomaly_enabled()
    if ctx.arrival is None or not plain or looked_at or device.type != "cpu":
        return gradient.to(device)
    with torch.no_grad():
        return native.send_gradient(gradient, ctx.key)


def give(unit, views: list) -> tuple:
    """The unit's tensors as functions of its parameters."""
    manager, parameters = unit.manager, [slot.parameter for slot in unit.slots]
    arrival = _Arrival() if manager.sends_gradients else None
    if arrival is not None:
        parameters = _Arrive.apply(unit.key, arrival, *parameters)
    return _Fetch.apply(unit, manager.step_of_forward(), arrival, views, *parameters)


class Step:
    """The step of a forward, as what is saved for its backward knows it: once nobody does, no backward can come."""

    def __init__(self, key: int, number: int):
        self.key, self.number, self.thread = key, number, native.thread()

    def __del__(self):
        native.drop_step(self.key, self.number)


class _Saved:
    """What stands for a tensor of a slot in the graph of autograd."""

    def __init__(self, unit, leaf: int, tensor: torch.Tensor, offset: int):
        self.unit, self.leaf, self.step = unit, leaf, unit.manager.step_of_forward()
        self.size, self.stride, self.dtype, self.offset = tensor.shape, tensor.stride(), tensor.dtype, offset
        self.looks = tensor.is_conj(), tensor.is_neg()

    def fetch(self) -> torch.Tensor:
        if compat.backward_number() < 0 or torch.is_grad_enabled():  # create_graph: the new graph keeps it
            return compat.look_through(self._copy(), *self.looks)
        backward = self.unit.manager.backward
        backward.enter(self.step.number, self.step.thread)
        base = backward.views(self.unit)[self.leaf]
        whole = torch.empty(0, dtype=self.dtype, device=base.device)
        with torch.no_grad():
            whole.set_(base.untyped_storage(), self.offset, self.size, self.stride)
            return compat.look_through(whole, *self.looks)

    def _copy(self) -> torch.Tensor:
        """For whoever looks at what is saved outside of any backward, or keeps it beyond the unit."""
        leaves = [leaf for slot in self.unit.slots for leaf in slot.leaves]
        host = leaves[self.leaf].host
        low = host.storage_offset() * host.element_size() // torch.empty(0, dtype=self.dtype).element_size()
        whole = torch.empty(0, dtype=self.dtype)
        whole.set_(host.untyped_storage(), low + self.offset, self.size, self.stride)
        return whole.to(self.unit.manager.device, copy=True)


def saving(unit, fetched: list[torch.Tensor]):
    """What autograd saves of the unit's tensors while this is entered is fetched again in the backward."""
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
    manager.backward.close_any()  # a checkpointed region runs its forward again in the middle of a backward
    with torch.no_grad():
        anchor = manager.anchor(first_tensor(args, kwargs))
        fetched = native.fetch(anchor, manager.spare_token, unit.key, unit.index)
    views = give(unit, unit.tensors_of(fetched))
    outer, unit.views = unit.views, list(views)
    try:
        with saving(unit, fetched):
            out = forward(module, *args, **kwargs)
    except BaseException:
        unit.views = outer
        native.unit_end(fetched[0], [], unit.key, unit.index)
        raise
    unit.views = outer
    left = leaves(out)
    native.unit_end(fetched[0], left, unit.key, unit.index)
    unit.require_its_own(left, fetched)
    manager.goes_back |= any(leaf.requires_grad for leaf in left)
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


class _End:
    """The end of a backward, for autograd to call; it drops it uncalled where the backward has raised."""

    def __init__(self, leave):
        self._leave = leave

    def __call__(self):
        leave, self._leave = self._leave, None
        leave(failed=False)

    def __del__(self):
        if self._leave is not None:
            self._leave(failed=True)


_open: "weakref.WeakValueDictionary[int, Backward]" = weakref.WeakValueDictionary()  # by budget: whose unit is open


class Backward:
    """A model's part in backwards: each is in one step from its first unit on, its forward's where that still waits.

    Of the units that eager backwards fetch one is open at a time, from the first tensor of it that is wanted to the next
    unit's."""

    def __init__(self, manager):
        self.manager = manager
        self._steps: dict[int, Step] = {}  # of the backwards that are inside, by autograd's number
        self._unit = None
        self._views = None
        self.changes = False  # an optimizer has stepped within: what it has changed is brought to the device at the end

    def is_within(self) -> bool:
        """Whether the caller is part of a backward that is inside a step of the model."""
        return bool(self._steps) and compat.backward_number() in self._steps

    def step(self) -> "Step | None":
        """Of the backward that the caller is part of."""
        return self._steps.get(compat.backward_number())

    def enter(self, step: int = 0, thread: int = 0) -> None:
        """Before anything that the caller's backward fetches; `step` and `thread` were its forward's (0: not known)."""
        backward = compat.backward_number()
        if backward in self._steps:
            return
        key = self.manager.key
        # On the host a backward runs where it is asked for. On a GPU it does in a thread of torch's: that it was asked for by
        # the forward's thread is taken for granted.
        asker = thread if self.manager.device.type == "cuda" else native.thread()
        self._steps[backward] = Step(key, native.join_step(key, step, asker))
        compat.queue_after_backward(_End(lambda failed: self._leave(backward, failed)))

    def _leave(self, backward: int, failed: bool) -> None:
        step = self._steps.pop(backward)
        try:
            self.close()
        finally:
            native.leave_step(step.key, step.number, failed)
        if self.changes and not self._steps:
            self.changes = False
            self.manager.refresh_between_steps()

    def views(self, unit) -> list[torch.Tensor]:
        if self._unit is not unit:
            self.close_any()
            with torch.no_grad():
                token = self.manager.spare_token
                self._views = native.fetch(token, token, unit.key, unit.index + self.manager.backward_offset)
            self._unit = unit
            _open[id(self.manager.budget)] = self
        return self._views

    def close_any(self) -> None:
        """Ends the unit that is open, this model's or one of another on the budget."""
        if (opened := _open.pop(id(self.manager.budget), None)) is not None:
            opened.close()

    def close(self) -> None:
        """Ends the open unit, if there is one: all that reads it has been submitted."""
        if self._unit is None:
            return
        unit, views, self._unit, self._views = self._unit, self._views, None, None
        with torch.no_grad():
            native.unit_end(views[0], [], unit.key, unit.index + self.manager.backward_offset)

    def forget(self) -> None:
        """The step has been given up."""
        self._unit = self._views = None


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
        if (manager := owner(optimizer)) is not None and not manager.backward.is_within():
            manager.settle()

    def after(optimizer, args, kwargs):
        if (manager := owner(optimizer)) is not None:
            if manager.backward.is_within():
                manager.backward.changes = True
            else:
                manager.refresh_between_steps()

    return [optim.register_optimizer_step_pre_hook(before), optim.register_optimizer_step_post_hook(after)]
