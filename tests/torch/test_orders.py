# SPDX-License-Identifier: Apache-2.0
"""Reads and calls in other places than a plan knows: outside of a forward, within another unit, in another order."""

import copy

import pytest
import torch
from torch import nn

import hoist.torch as ht
from models import Listed, Stack, check, ids


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def test_weights_read_outside_their_forward(offload):
    class Net(Stack):
        def forward(self, ids):
            x = self.embed(ids) + self.head.weight.mean() + self.blocks[2].up.bias.sum()
            for block in self.blocks:
                x = block(x)
            return nn.functional.linear(x, self.embed.weight)  # head's forward is never run

    model = Net()
    want = model(ids())
    check(offload(model), ids(), want=want)
    assert model.blocks[0].up.weight.shape == (128, 64) and model.blocks[0].up.weight.device.type == "cpu"


def test_weights_read_by_their_lists(offload):
    """What computes is on the device, not the host's copy, which a computing CPU would take as well."""
    seen, inputs = [], []

    def backend(module, example_inputs):
        inputs.append(len(example_inputs))
        return module

    class Functional(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.scale = nn.Linear(8, 8), nn.Linear(8, 8), nn.Parameter(torch.ones(8))

        def forward(self, x):
            own = dict(self.named_parameters(recurse=False))
            every = dict(self.named_parameters())
            if not torch.compiler.is_compiling():
                seen.append(every["a.weight"].data_ptr())
            x = nn.functional.linear(x * own["scale"], every["a.weight"], every["a.bias"])
            return torch.tanh(nn.functional.linear(x, *self.b.parameters()))

    model = Listed(*(Functional() for _ in range(4)))
    x = torch.randn(2, 8)
    want = model(x)
    offload(model, "60%")
    seen.clear()
    check(model, x, want=want)
    assert not {slot.leaves[0].host.data_ptr() for slot in ht.manager(model).slots} & set(seen)
    check(torch.compile(model, fullgraph=True, backend=backend), x, want=want)
    assert inputs == [1]
    unit = ht.manager(model).units[1]
    assert isinstance(next(model.parts[1].parameters()), nn.Parameter) and unit.views is None
    assert [name for name, _ in model.named_parameters()] == [name for name, _ in copy.deepcopy(model).named_parameters()]


def test_a_unit_within_a_unit(offload):
    """A module that calls one which is elsewhere in the model, and one that calls itself."""
    class Caller(nn.Module):
        def __init__(self, other):
            super().__init__()
            self.own = nn.Linear(8, 8)
            self.other = [other]  # not a child

        def forward(self, x, depth=2):
            x = self.other[0](self.own(x))
            return self(x, depth - 1) if depth else self.own(x)

    first = nn.Linear(8, 8)
    model = Listed(first, Caller(first), nn.Linear(8, 8))
    x = torch.randn(2, 8)
    want = model(x)
    check(offload(model, "100%"), x, want=want)
    assert ht.manager(model).counters()["strays"] > 0


def test_dynamic_orders(offload):
    class Net(Stack):
        def forward(self, ids, order):
            x = self.embed(ids)
            for i in order:
                x = self.blocks[i](x)
            return self.head(x)

    model = Net()
    orders = [list(range(6)), [5, 1, 1, 3], [], [0, 2, 4], list(range(5, -1, -1))] * 2
    wants = [model(ids(), order) for order in orders]
    offload(model)
    for order, want in zip(orders, wants):
        assert torch.equal(model(ids(), order), want)


def test_varying_shapes(offload):
    model = Stack()
    shapes = [(1, 4), (3, 9), (1, 1), (2, 8)] * 3
    wants = [model(ids(*shape)) for shape in shapes]
    offload(model)
    for shape, want in zip(shapes, wants):
        assert torch.equal(model(ids(*shape)), want)
