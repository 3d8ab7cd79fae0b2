# SPDX-License-Identifier: Apache-2.0
"""State dicts, changes, copies, adapters, moves, and what users put on modules."""

import copy
import gc
import warnings
import weakref

import pytest
import torch
from torch import nn

import hoist.torch as ht
from models import Stack, bytes_of, check, ids


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


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


@pytest.mark.parametrize("trains", [True, False])
def test_a_model_that_is_dropped_takes_all_with_it(trains):
    model = Stack().requires_grad_(trains)
    out = model(ids())
    ht.offload(model, "50%", device="host:0")
    check(model, ids(), want=out)
    if trains:
        with torch.enable_grad():
            model(ids()).sum().backward()
            model(ids())  # its backward never comes
    key, manager = ht.manager(model).key, weakref.ref(ht.manager(model))
    kept = model.blocks[0].up.weight
    want = kept.detach().clone()
    del model
    gc.collect()
    assert manager() is None
    assert torch.equal(kept, want)  # what is kept keeps the memory
    torch.optim.SGD([kept], lr=0.1).step()
    again = ht.offload(Stack().requires_grad_(trains), "50%", device="host:0")
    assert ht.manager(again).key == key
    ht.manager(again).release()


@pytest.mark.parametrize("by_hand", [True, False])
def test_other_data_of_a_parameter(offload, by_hand):
    model = offload(Stack(), "60%")
    manager = ht.manager(model)
    for _ in range(6):
        model(ids())
    plain = copy.deepcopy(model)
    weight = model.blocks[1].up.weight
    if by_hand:
        manager.settle()
    weight.data = plain.blocks[1].up.weight.data = weight.data * 2
    if by_hand:
        manager.refresh()
    check(model, ids(), want=plain(ids()), steps=3)
    plain.blocks[2].up.weight.data = model.blocks[2].up.weight.data = model.blocks[2].up.weight.data * 3
    manager.release()
    assert torch.equal(model(ids()), plain(ids()))


def test_conversions_are_told(offload):
    model = offload(Stack())
    with pytest.warns(UserWarning, match=r"a Stack is offloaded: .* of its \w+ streams and stays torch.float32 .*model.to\(torch."):
        model.blocks[0].half()


class Told(nn.Module):
    """Tells a device as the base classes of transformers and diffusers do, here one that no budget is on."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    @property
    def device(self):
        return torch.device("meta")

    def forward(self, x):
        return self.inner(x)


@pytest.mark.parametrize("manual", [False, True])
def test_a_model_tells_the_device_that_it_computes_on(offload, manual):
    model = Told(Told(Stack()))
    want = model(ids())
    offload(model, manual=manual)
    assert model.device == model.inner.device == ht.manager(model).device
    if not manual:
        check(model, ids(), want=want, steps=3)
    ht.manager(model).release()
    assert model.device == model.inner.device == torch.device("meta") and type(model) is Told
