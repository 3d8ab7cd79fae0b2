# SPDX-License-Identifier: Apache-2.0
"""What tensors look like: ties, shared storage, strides, buffers, tensors of inner buffers."""

import pytest
import torch
from torch import nn

import hoist.torch as ht
from models import Listed, Stack, bytes_of, check, ids


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def test_tied_weights_are_one_item(offload):
    model = Stack()
    model.head.weight = model.embed.weight
    want, before = model(ids()), bytes_of(model)
    offload(model)
    assert model.head.weight is model.embed.weight
    items = {item.name for item in ht.manager(model).items}
    assert "embed.weight" in items and "head.weight" not in items
    check(model, ids(), want=want)
    assert bytes_of(model) == before
    ht.manager(model).release()
    assert model.head.weight is model.embed.weight and bytes_of(model) == before


def test_parameters_over_one_storage_are_one_item(offload):
    whole = torch.randn(8, 32)
    one, two = nn.Linear(8, 24, bias=False), nn.Linear(32, 6, bias=False)
    one.weight = nn.Parameter(whole[:6].reshape(-1)[:192].view(24, 8))  # overlapping parts
    two.weight = nn.Parameter(whole[2:])
    model = Listed(one, nn.Linear(24, 32), two)
    x = torch.randn(3, 8)
    want = model(x)
    offload(model, "100%")
    assert len({id(leaf.item) for slot in ht.manager(model).slots for leaf in slot.leaves}) == 3
    check(model, x, want=want)
    ht.manager(model).release()
    assert one.weight.untyped_storage().data_ptr() == two.weight.untyped_storage().data_ptr()
    assert torch.equal(model(x), want)


def test_layouts_stay_as_they_look(offload):
    conv = nn.Conv2d(4, 6, 3).to(memory_format=torch.channels_last)
    turned, wide, sparse = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
    turned.weight = nn.Parameter(torch.randn(6, 6).t())
    wide.weight = nn.Parameter(torch.randn(6, 1).expand(6, 6))
    sparse.weight = nn.Parameter(torch.randn(6, 1000)[:, ::100][:, :6])

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([conv, turned, wide, sparse])

        def forward(self, x):
            strides.append([part.weight.stride() for part in self.parts])
            x = self.parts[0](x).mean((2, 3))
            for part in list(self.parts)[1:]:
                x = part(x)
            return x

    strides = []
    model = Net()
    x = torch.randn(2, 4, 8, 8)
    want = model(x)
    offload(model, "70%")
    seen = [slot.leaves[0].like.stride() for slot in ht.manager(model).slots if slot.name == "weight"]
    assert seen[:3] == strides[0][:3] and ht.manager(model).query().tensor_bytes < 16 * 1024
    for _ in range(6):
        torch.testing.assert_close(model(x), want)  # what was sparse is multiplied in another order


def test_empty_and_scalar_parameters(offload):
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.none = nn.Parameter(torch.empty(0, 4))
            self.one = nn.Parameter(torch.tensor(3.0))
            self.register_parameter("absent", None)

        def forward(self, x):
            return x * self.one + self.none.sum()

    model = Listed(Odd(), nn.Linear(4, 4), Odd())
    want = model(torch.ones(2, 4))
    check(offload(model, "100%"), torch.ones(2, 4), want=want)


def test_buffers_stay_and_may_be_written(offload):
    def make():
        torch.manual_seed(1)
        return Listed(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 8), nn.BatchNorm1d(8))

    model, plain = make(), make()
    offload(model)
    for step in range(6):
        x = torch.randn(5, 8)
        assert torch.equal(model(x), plain(x))
    assert bytes_of(model) == bytes_of(plain) and int(model.parts[1].num_batches_tracked) == 6


def test_recurrent_modules(offload):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([nn.LSTM(8, 8, batch_first=True), nn.GRU(8, 8, batch_first=True)])

        def forward(self, x):
            for part in self.parts:
                x = part(x)[0]
            return x

    model = Net()
    x = torch.randn(2, 5, 8)
    want = model(x)
    check(offload(model, "60%"), x, want=want)


class Quantized(torch.Tensor):
    """An int8 weight and a scale a row, as quantizing libraries make them."""

    @staticmethod
    def __new__(cls, values, scale):
        return torch.Tensor._make_wrapper_subclass(cls, values.shape, dtype=scale.dtype)

    def __init__(self, values, scale):
        self.values, self.scale = values, scale

    def __tensor_flatten__(self):
        return ["values", "scale"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Quantized(inner["values"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.detach.default:
            return Quantized(args[0].values, args[0].scale)
        plain = [a.values.to(a.scale.dtype) * a.scale if isinstance(a, Quantized) else a for a in args]
        return function(*plain, **(kwargs or {}))


def quantized(linear):
    scale = linear.weight.abs().amax(1, keepdim=True) / 127
    linear.weight = nn.Parameter(Quantized((linear.weight / scale).round().to(torch.int8), scale), requires_grad=False)
    return linear


def test_tensors_of_inner_buffers(offload):
    model = Listed(*(quantized(nn.Linear(16, 16)) for _ in range(5)))
    x = torch.randn(3, 16)
    want = model(x)
    offload(model, "60%")
    assert len(ht.manager(model).items) == 15 and isinstance(model.parts[0].weight, Quantized)
    check(model, x, want=want)
    ht.manager(model).release()
    assert torch.equal(model(x), want)
