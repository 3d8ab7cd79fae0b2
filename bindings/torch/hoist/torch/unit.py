# SPDX-License-Identifier: Apache-2.0
"""A unit at run time: begins before its module's forward, ends after it."""

import torch

from hoist.torch import compat, native, training
from hoist.torch.nested import first_tensor, leaves


class Unit:
    """A module whose parameters stream; `views` are its tensors while it is open, else None."""

    def __init__(self, manager, index: int, name: str, module, slots: list):
        self.manager = manager
        self.key = manager.key
        self.index = index
        self.name = name
        self.module = module
        self.slots = slots
        self.views = None
        self.compiled = None
        self.plain = all(slot.build is None for slot in slots)
        self.trainable = any(slot.parameter.requires_grad for slot in slots)

    def tensors_of(self, fetched: list[torch.Tensor]) -> list[torch.Tensor]:
        """One tensor a slot, of the plain ones that were fetched."""
        if self.plain:
            return fetched
        tensors, at = [], 0
        for slot in self.slots:
            count = len(slot.leaves)
            part = fetched[at:at + count]
            tensors.append(part[0] if slot.build is None else slot.build(part))
            at += count
        return tensors

    def parameters(self) -> list[torch.Tensor]:
        """Those that gradients can reach in a compiled graph: the plain ones."""
        return [slot.parameter for slot in self.slots if slot.build is None]

    def leaves_of_parameters(self) -> list[int]:
        """Of each of parameters(): which of the fetched tensors it is."""
        numbers, at = [], 0
        for slot in self.slots:
            if slot.build is None:
                numbers.append(at)
            at += len(slot.leaves)
        return numbers

    def run(self, forward, module, args, kwargs):
        manager = self.manager
        if not manager.inside():
            return manager.alone(self, forward, module, args, kwargs)
        if self.compiled is not None:
            forward = self.compiled
        tracing = torch.compiler.is_compiling()
        if torch.is_grad_enabled():
            # Frozen weights, too, are saved for the gradients of what comes in.
            if tracing:
                return training.trace_unit(self, forward, module, args, kwargs)
            return training.run_unit(self, forward, module, args, kwargs)
        anchor = manager.anchor(first_tensor(args, kwargs))
        fetched = native.fetch(anchor, manager.here(), self.key, self.index)
        outer, self.views = self.views, self.tensors_of(fetched)
        if tracing:
            out = forward(module, *args, **kwargs)
        else:
            out = self._guarded(forward, module, args, kwargs, outer, fetched)
        self.views = outer
        left = leaves(out)
        token = native.unit_end(fetched[0], left, self.key, self.index)
        if tracing:
            manager.token = token
        else:
            self.require_its_own(left, fetched)
        return out

    def require_its_own(self, left: list[torch.Tensor], fetched: list[torch.Tensor]) -> None:
        """What a unit leaves is no weight: that is good until its end alone. In a graph, compile.py looks."""
        ends = [(tensor.data_ptr(), tensor.data_ptr() + tensor.untyped_storage().nbytes()) for tensor in fetched]
        for leaf in left:
            if leaf.layout is torch.strided and not compat.is_wrapper_subclass(leaf):
                at = leaf.data_ptr()
                if at and any(low <= at < high for low, high in ends):
                    raise RuntimeError(f'hoist.torch: unit "{self.name}" gives out a weight, which is good until its end alone '
                                       "(give a clone(), or exclude the parameter)")

    def _guarded(self, forward, module, args, kwargs, outer, fetched):
        """Where the forward raises the unit ends all the same: its caller may go on."""
        try:
            return forward(module, *args, **kwargs)
        except BaseException:
            self.views = outer
            native.unit_end(fetched[0], [], self.key, self.index)
            raise

    def is_open(self) -> bool:
        return self.views is not None

    def closed_read(self, module, name: str):
        """A read of a parameter while the unit is not open."""
        return self.manager.parameters.closed_read(self, module, name)
