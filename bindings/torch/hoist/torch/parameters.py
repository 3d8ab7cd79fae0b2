# SPDX-License-Identifier: Apache-2.0
"""The parameters and buffers of an offloaded model: changed, replaced, read elsewhere, or at home on the device."""

import warnings

import torch

import hoist
from hoist.torch import compat, layout


class Parameters:
    """What streams and what stays, for one manager."""

    def __init__(self, manager):
        self._manager = manager
        self._residents: list[tuple] = []  # (tensor, its bytes where they were): loose parameters and buffers
        self.resident_bytes = 0
        self.promoted: dict[int, tuple] = {}  # a parameter, and its copy on the device
        self._updates = None  # the stream that updates are ordered on

    def refresh(self, only_changed: bool = False) -> int:
        """See ModelManager.refresh."""
        changed = {}
        for slot in self._manager.slots:
            if only_changed and slot.is_as_it_was():
                continue
            parameter = slot.module._parameters.get(slot.name)
            replaced = parameter is not slot.parameter or slot.has_other_bytes()
            if not replaced and parameter._version == slot.version and only_changed:
                continue
            if replaced:
                self._replaced(slot, parameter)
            slot.version = slot.parameter._version
            changed.update((id(leaf.item), leaf.item) for leaf in slot.leaves)
        for item in changed.values():
            self._update(item)
        if changed:
            self._update_promoted()
        return sum(item.bytes for item in changed.values())

    def _update(self, item) -> None:
        host = self._manager.native.host_view(item.tensor, "uint8")
        self._manager.native.update(item.tensor, host.copy(), self._stream())

    def _update_promoted(self) -> None:
        """Where they are: a graph may hold their addresses."""
        with torch.no_grad():
            for parameter, promoted in self.promoted.values():
                promoted.copy_(parameter)

    def _stream(self):
        if self._updates is None:
            self._updates = hoist.Stream(self._manager.native_device)
        return self._updates

    def _replaced(self, slot, parameter) -> None:
        """A parameter or data of the same looks take the place of those before; others stay on the device."""
        same = (parameter is not None and slot.build is None and not compat.is_wrapper_subclass(parameter)
                and layout.looks(parameter) == layout.looks(slot.parameter))
        if not same:
            index = dict(slot.module._hoist_index)
            index.pop(slot.name, None)
            slot.module.__dict__["_hoist_index"] = index
            if parameter is not None and parameter.device != self._manager.device:
                parameter.data = parameter.data.to(self._manager.device)
            slot.parameter = parameter if parameter is not None else slot.parameter
            return
        leaf = slot.leaves[0]
        with torch.no_grad():
            leaf.host.copy_(parameter.data)
        parameter.data = leaf.host
        if id(slot.parameter) in self.promoted:
            self.promoted[id(parameter)] = (parameter, self.promoted.pop(id(slot.parameter))[1])
        slot.parameter = parameter

    def closed_read(self, unit, module, name: str):
        """A read of a parameter outside of its unit's forward.

        Between steps it is the parameter itself, over the host copy; within a step one that computes."""
        parameter = module._parameters[name]
        if self._manager.device.type == "cpu" or name not in module._hoist_index or not self._manager.inside():
            return parameter
        if id(parameter) not in self.promoted:
            if torch.compiler.is_compiling():
                raise RuntimeError(f'hoist.torch: "{unit.name}" has a parameter "{name}" that is read outside of its '
                                   "forward (run the model once before compiling it, or exclude the parameter)")
            warnings.warn(f'hoist.torch: a parameter "{name}" of "{unit.name}" is read outside of its forward; it stays '
                          "on the device from now on, beyond the budget (exclude it to have it counted)", stacklevel=3)
            self.promoted[id(parameter)] = (parameter, parameter.detach().to(self._manager.device))
        return self.promoted[id(parameter)][1]

    def place_residents(self, tensors: list) -> None:
        """Brings loose parameters and buffers to the device, where they stay."""
        placed = {id(tensor) for tensor, _ in self._residents}
        for tensor in tensors:
            if id(tensor) in placed:
                continue
            placed.add(id(tensor))
            self._residents.append((tensor, tensor.data if tensor.device != self._manager.device else None))
            if tensor.device != self._manager.device:
                tensor.data = tensor.data.to(self._manager.device)
        align = self._manager.native_device.query().alignment
        self.resident_bytes = sum(-(-t.numel() * t.element_size() // align) * align for t, _ in self._residents)

    def return_residents(self) -> None:
        for tensor, before in self._residents:
            if before is not None:
                tensor.data = tensor.data.to(before.device)
        self._residents.clear()

    def give_back(self) -> None:
        """Everything has bytes of its own again, the present ones, where they were."""
        for slot in self._manager.slots:
            if slot.has_other_bytes():
                self._replaced(slot, slot.parameter)
        layout.give_back([slot for slot in self._manager.slots if slot.streams()], self._manager.native)
        for slot in self._manager.slots:
            for leaf in slot.leaves:
                leaf.host = None  # it would keep the pinned memory
        self.return_residents()
