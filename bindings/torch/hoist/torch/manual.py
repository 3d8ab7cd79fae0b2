# SPDX-License-Identifier: Apache-2.0
"""Units by hand: `with ht.manual_unit(self, "name"):` around parts of a forward, whose tensors a first forward discovers.

    class Net(nn.Module):
        def forward(self, x):
            with ht.manual_unit(self, "first"):
                x = self.a(x) @ self.w
            with ht.manual_unit(self, "rest"):
                return self.b(x)

    ht.offload(net, "60%", manual=True)

On a model that is not offloaded, or whose units are found by themselves, the blocks do nothing. Parameters that are read
in no block stay on the device. What a block reads that the first forward did not read there stays there too, from then on.
"""

import contextlib
import sys

import torch

from hoist.torch import hooks as classes
from hoist.torch import native, training


@contextlib.contextmanager
def manual_unit(module, name: str):
    """A unit of the model that `module` is, or is part of; a name that comes again is the same unit."""
    manual = getattr(module, "_hoist_manual", None)
    if manual is None:
        yield
        return
    entered = manual.enter(name)
    try:
        yield
    finally:
        manual.leave(entered)


def _holders(tensors: list) -> list[int]:
    return [sys.getrefcount(tensor) for tensor in tensors]


class Manual:
    """All streamed parameters are read through this: `views` are the tensors of the block that is open, by slot."""

    name = "manual"

    def __init__(self, manager):
        self.manager = manager
        self.views = None
        self.units: "dict[str, object] | None" = None  # by name, once they are known
        self._found: dict[str, dict] = {}
        self._open: list[str] = []
        self._moved: dict[int, torch.Tensor] = {}

    def install(self) -> None:
        """The units are known: slots have numbers, by which they are read."""
        numbers = {id(slot): number for number, slot in enumerate(self.manager.slots)}
        for slot in self.manager.slots:
            slot.module.__dict__["_hoist_index"][slot.name] = numbers[id(slot)]
        for unit in self.manager.units:
            unit.numbers = [numbers[id(slot)] for slot in unit.slots]
        self.units = {unit.name: unit for unit in self.manager.units}

    # --- the first forward ---

    def watch(self, model) -> None:
        """From here on every read of a parameter comes by here."""
        for module in list(model.modules()):
            module.__dict__["_hoist_manual"] = self
            names = tuple(name for name, parameter in module._parameters.items() if parameter is not None)
            module.__dict__["_hoist_unit"], module.__dict__["_hoist_index"] = self, {}
            classes.put_on(module, names, role="part")

    def discover(self, forward, module, args, kwargs):
        """Runs the forward with what each block reads brought to the device as it is read; then the units are known."""
        if torch.compiler.is_compiling():
            raise RuntimeError("hoist.torch: the model is compiled before its manual units are known (run it once uncompiled "
                               "after offload, then compile it)")
        if self.manager.capturing():
            raise RuntimeError("hoist.torch: a step is captured before the model's manual units are known (run as many steps as "
                               "manager(model).steps_before_serving first)")
        self._found.clear()
        try:
            out = forward(module, *args, **kwargs)
        finally:
            self._open.clear()
            self._moved.clear()
        self.manager.finish_manual({name: list(slots.values()) for name, slots in self._found.items() if slots})
        return out

    def closed_read(self, module, name: str):
        if self.units is not None:
            return self.manager.parameters.closed_read(self, module, name)
        parameter = module._parameters[name]
        if self._open:
            self._found[self._open[-1]].setdefault((id(module), name), (module, name))
        if parameter is None or parameter.device == self.manager.device:
            return parameter
        if id(parameter) not in self._moved:
            given = parameter if torch.is_grad_enabled() else parameter.detach()
            self._moved[id(parameter)] = given.to(self.manager.device)
        return self._moved[id(parameter)]

    # --- blocks ---

    def is_open(self) -> bool:
        return self.views is not None or (self.units is None and bool(self._open))

    def enter(self, name: str):
        if self.units is None:
            self._found.setdefault(name, {})
            self._open.append(name)
            return None
        found = self.units.get(name)
        if found is None or not self.manager.inside():
            return None
        trains = torch.is_grad_enabled()
        if trains and torch.compiler.is_compiling():
            raise NotImplementedError("hoist.torch: gradients through units by hand in a compiled graph (train uncompiled, run "
                                      "under torch.no_grad(), or let offload find the units: manual=False)")
        token = self.manager.here()
        with torch.no_grad():
            if trains:
                self.manager.backward.close_any()  # a checkpointed region runs again in a backward
            fetched = native.fetch(token, token, self.manager.key, found.index)
        given, hooks = found.tensors_of(fetched), None
        watched = not trains and found.plain and not torch.compiler.is_compiling()
        holders = _holders(given) if watched else None
        if trains:
            given, hooks = training.give(found, given), training.saving(found, fetched)
            self.manager.goes_back |= any(tensor.requires_grad for tensor in given)
            hooks.__enter__()
        views = [None] * len(self.manager.slots)
        for number, tensor in zip(found.numbers, given):
            views[number] = tensor
        outer, self.views = self.views, views
        return found.index, fetched, outer, hooks, holders

    def leave(self, entered) -> None:
        if self.units is None:
            if self._open:
                self._moved.clear()
                self._open.pop()
            return
        if entered is None:
            return
        index, fetched, self.views, hooks, holders = entered
        if hooks is not None:
            hooks.__exit__(None, None, None)
        with torch.no_grad():
            token = native.unit_end(fetched[0], [], self.manager.key, index)
        if torch.compiler.is_compiling():
            self.manager.token = token
        elif holders is not None:
            self._take_back(fetched, holders)

    def _take_back(self, fetched: list, holders: list[int]) -> None:
        """A weight that is still held is empty from here on: its memory is another's soon. The next block gets a new tensor."""
        kept = [at for at, count in enumerate(_holders(fetched)) if count > holders[at]]
        for at in kept:
            fetched[at].data = fetched[at].new_empty(0)
        if kept:
            native.forget_tensors(self.manager.key)
