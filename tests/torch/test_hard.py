# SPDX-License-Identifier: Apache-2.0
"""What breaks others: ties, buffers, layouts, inner tensors, reads elsewhere, other orders, exceptions, threads,
state dicts, copies, adapters, shapes."""

import copy
import threading
import warnings

import pytest
import torch
from torch import nn

import hoist.torch as ht
from models import Block, Stack, bytes_of, ids


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def check(model, *args, steps=6, **kwargs):
    """The offloaded model gives what it gave before, step after step."""
    want = kwargs.pop("want")
    for _ in range(steps):
        assert torch.equal(model(*args, **kwargs), want)


class Listed(nn.Module):
    """Modules one after the other."""

    def __init__(self, *modules):
        super().__init__()
        self.parts = nn.ModuleList(modules)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


# --- ties and layouts ---


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


# --- buffers ---


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


# --- tensors of several inner buffers ---


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


# --- reads and calls in other places ---


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


# --- exceptions and threads ---


def test_an_exception_in_a_forward(offload):
    class Failing(Block):
        fail = False

        def forward(self, x):
            x = self.up(x)
            if self.fail:
                raise ZeroDivisionError("mine")
            return self.down(x)

    model = Listed(Failing(16), Failing(16), Failing(16))
    x = torch.randn(2, 16)
    want = model(x)
    offload(model, "100%")
    for step in range(8):
        model.parts[1].fail = step % 2 == 1
        if model.parts[1].fail:
            with pytest.raises(ZeroDivisionError, match="mine"):
                model(x)
        else:
            assert torch.equal(model(x), want)
    assert ht.manager(model).query().aborted_steps == 4
    ht.manager(model).suspend()
    ht.manager(model).resume()
    model.parts[1].fail = False
    assert torch.equal(model(x), want)


def test_two_threads_take_turns(offload):
    model = Stack()
    inputs = [ids(1, 4), ids(3, 7)]
    wants = [model(i) for i in inputs]
    offload(model)
    wrong = []

    def work(mine):
        with torch.no_grad():
            for _ in range(15):
                if not torch.equal(model(inputs[mine]), wants[mine]):
                    wrong.append(mine)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)
    assert ht.manager(model).query().steps == 30


def test_two_models_do_not_see_each_other(offload):
    one, two = offload(Stack()), Stack()
    want = two(ids())
    offload(two)
    for _ in range(5):
        one(ids())
        assert torch.equal(two(ids()), want)
    ht.manager(one).release()
    assert torch.equal(two(ids()), want)


# --- state dicts, copies, changes ---


def test_load_state_dict_while_out(offload):
    model, other = Stack(), Stack()
    want = other(ids())
    offload(model)
    for assign in (False, True):
        for _ in range(5):
            model(ids())
        model.load_state_dict(copy.deepcopy(other.state_dict()), assign=assign)
        check(model, ids(), want=want, steps=3)
        assert bytes_of(model) == bytes_of(other)
        other = Stack()
        want = other(ids())
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict(Stack(width=32).state_dict())


def test_changes_in_place_and_new_parameters(offload):
    model, plain = Stack(), Stack()
    plain.load_state_dict(model.state_dict())
    offload(model)
    for _ in range(5):
        model(ids())
    ht.manager(model).settle()
    for m in (model, plain):
        m.blocks[0].up.weight.mul_(2)
        m.blocks[1].down.bias = nn.Parameter(torch.ones(64))
        m.blocks[2].down = nn.Linear(128, 64, bias=False, dtype=torch.float32).requires_grad_(False)
        m.blocks[2].down.weight.fill_(0.25)
    check(model, ids(), want=plain(ids()), steps=3)
    ht.manager(model).settle()
    for m in (model, plain):
        m.blocks[3].up.weight.data[0] = 7  # torch does not count this
    assert ht.manager(model).refresh() > 0
    check(model, ids(), want=plain(ids()), steps=3)


def test_copies_are_plain(offload, tmp_path):
    model = Stack()
    want = model(ids())
    offload(model)
    model(ids())
    copied = copy.deepcopy(model)
    assert type(copied) is Stack and ht.manager(copied) is None and type(copied.blocks[0].up) is nn.Linear
    torch.save(model, tmp_path / "model.pt")
    loaded = torch.load(tmp_path / "model.pt", weights_only=False)
    ht.manager(model).release()
    assert torch.equal(copied(ids()), want) and torch.equal(loaded(ids()), want)


class Adapter(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.a = nn.Linear(base.in_features, rank, bias=False)
        self.b = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.b(self.a(x))


def test_adapters_come_and_go(offload):
    model, plain = Stack(), Stack()
    plain.load_state_dict(model.state_dict())
    bare = plain(ids())
    offload(model)
    check(model, ids(), want=bare)
    adapter = Adapter(plain.blocks[1].up)
    plain.blocks[1].up = adapter
    mine = Adapter(model.blocks[1].up)
    mine.a.load_state_dict(adapter.a.state_dict()), mine.b.load_state_dict(adapter.b.state_dict())
    model.blocks[1].up = mine
    check(model, ids(), want=plain(ids()))
    model.blocks[1].up = mine.base
    check(model, ids(), want=bare)


def test_moves_leave_streamed_parameters_alone(offload):
    model = Stack()
    want = model(ids())
    offload(model)
    names = [name for name, _ in model.named_parameters()]
    pointers = [slot.parameter.data_ptr() for slot in ht.manager(model).slots]
    model.to("cpu"), model.float()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.half(), model.float()
    assert [name for name, _ in model.named_parameters()] == names
    assert [slot.parameter.data_ptr() for slot in ht.manager(model).slots] == pointers
    check(model, ids(), want=want)


def test_hooks_and_attributes_of_users(offload):
    model = Stack()
    seen = []
    handle = model.blocks[0].register_forward_pre_hook(lambda module, args: seen.append(module.up.weight.shape))
    model.blocks[0].extra = 5
    want = model(ids())
    offload(model)
    check(model, ids(), want=want)
    assert len(seen) == 7 and model.blocks[0].extra == 5
    handle.remove()
    model.blocks[0].extra = 6
    ht.manager(model).release()
    assert model.blocks[0].extra == 6 and "_hoist_unit" not in model.blocks[0].up.__dict__
