# SPDX-License-Identifier: Apache-2.0
"""Eager steps: bits, lifecycle, suspend, release, replans."""

import gc
import weakref

import pytest
import torch
from torch import nn

import hoist
import hoist.torch as ht
from models import Block, Stack, bytes_of, ids


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


@pytest.mark.parametrize("budget", ["100%", "60%", "35%"])
def test_equal_bits_from_the_first_step(offload, budget):
    model = Stack()
    before, want = bytes_of(model), model(ids())
    offload(model, budget)
    for _ in range(8):
        assert torch.equal(model(ids()), want)
    status = ht.manager(model).query()
    assert status.peak_bytes <= status.budget_bytes
    assert (status.last_step_h2d_bytes == 0) == (budget == "100%")
    assert bytes_of(model) == before


def test_steps_before_serving(offload):
    model = offload(Stack(), profile_steps=3)
    manager = ht.manager(model)
    count = manager.steps_before_serving
    assert count == 4 and manager.phase == hoist.Phase.DISCOVERY
    for left in range(count, 0, -1):
        assert manager.steps_before_serving == left
        model(ids())
    assert manager.steps_before_serving == 0
    model(ids())
    assert manager.phase == hoist.Phase.SERVING
    assert manager.query().mispredictions == 0


def test_the_host_holds_the_bytes_once(offload):
    model = Stack()
    weight = model.blocks[0].up.weight
    storage = weakref.ref(weight.untyped_storage())
    pointer = weight.data_ptr()
    offload(model)
    gc.collect()
    assert storage() is None and weight.data_ptr() != pointer  # the same parameter, over pinned memory
    assert model.blocks[0].up.weight is weight
    status = ht.manager(model).query()
    assert status.pinned_bytes < 1.5 * status.tensor_bytes


def test_release_gives_the_model_back(offload):
    model = Stack()
    kinds, before, want = [type(m) for m in model.modules()], bytes_of(model), model(ids())
    parameters = list(model.parameters())
    attributes = [set(m.__dict__) for m in model.modules()]
    offload(model)
    model(ids())
    kept = model.state_dict()
    ht.manager(model).release()
    assert [type(m) for m in model.modules()] == kinds and [set(m.__dict__) for m in model.modules()] == attributes
    assert all(a is b for a, b in zip(model.parameters(), parameters)) and ht.manager(model) is None
    assert bytes_of(model) == before and torch.equal(model(ids()), want)
    gc.collect()
    assert bytes(kept["head.weight"].numpy()) == before["head.weight"]  # a state dict outlives the manager
    offload(model)
    assert torch.equal(model(ids()), want)


def test_a_budget_that_cannot_be_leaves_the_model_as_it_was():
    model = Stack()
    before, pointers = bytes_of(model), [p.data_ptr() for p in model.parameters()]
    with pytest.raises(hoist.errors.InfeasibleError, match="smallest"):
        ht.offload(model, "1KiB", device="host:0")
    assert bytes_of(model) == before and type(model) is Stack
    assert [p.data_ptr() for p in model.parameters()] == pointers


def test_suspend_and_resume(offload):
    model = Stack()
    want = model(ids())
    manager = ht.manager(offload(model))
    for _ in range(5):
        model(ids())
    manager.suspend()
    assert manager.query().arena_bytes == 0
    with pytest.raises(Exception, match="resume"):
        model(ids())
    assert bytes_of(model)
    manager.resume()
    for _ in range(3):
        assert torch.equal(model(ids()), want)


def test_replan(offload):
    model = Stack()
    want = model(ids())
    manager = ht.manager(offload(model))
    assert manager.replan_status.state == "idle" and not manager.replan_status.can_request
    with pytest.warns(UserWarning, match="no replan"):
        assert manager.request_replan() == 0
    assert manager.replan_status.state == "failed" and manager.replan_status.applied is False
    for _ in range(5):
        model(ids())
    for _ in range(3):  # nothing is consumed
        assert manager.replan_status.can_request
        steps = manager.request_replan()
        assert steps == 1 and manager.replan_status.state == "measuring" and manager.replan_status.applied is None
        for _ in range(steps):
            assert torch.equal(model(ids()), want)
        assert manager.replan_status.state == "done" and manager.replan_status.applied is True
        assert manager.replan_status == manager.replan_status
    manager.budget.set_share(0.9)
    assert torch.equal(model(ids()), want)


def test_one_budget_for_two_models(offload):
    device = hoist.Device("host:0")
    budget = hoist.Budget(device, budget="60%")
    one, two = Stack(), Stack(width=32)
    wants = one(ids()), two(ids())
    offload(one, budget), offload(two, budget)
    for _ in range(6):
        with ht.manager(one).step():
            a = one(ids())
        assert torch.equal(a, wants[0]) and torch.equal(two(ids()), wants[1])


def test_plans_are_saved_and_loaded(offload, tmp_path):
    model = offload(Stack())
    for left in range(ht.manager(model).steps_before_serving + 1, 0, -1):
        with pytest.raises(RuntimeError, match=rf"serves no plan of measured times \(run {left} more steps first\)"):
            ht.save_plan(model, tmp_path / "plan.json")
        model(ids())
    assert not list(tmp_path.iterdir())
    ht.save_plan(model, tmp_path / "plan.json")
    saved = ht.manager(model).native.plan().json()
    again = Stack()
    want = again(ids())
    offload(again, plan=tmp_path / "plan.json")
    manager = ht.manager(again)
    assert (manager.steps_before_serving, manager.replan_status.state) == (1, "warming")  # a step shows the order
    assert torch.equal(again(ids()), want)
    assert (manager.steps_before_serving, manager.replan_status.state) == (0, "measuring")
    assert torch.equal(again(ids()), want)
    assert manager.phase == hoist.Phase.SERVING and manager.replan_status.applied
    assert manager.native.plan().json() == saved
    other = Stack(blocks=5)
    with pytest.raises(ValueError, match="another model"):
        ht.offload(other, plan=tmp_path / "plan.json", device="host:0")
    assert type(other) is Stack and ht.manager(other) is None


def test_what_is_compiled_already_is_refused():
    compiled = torch.compile(Stack())
    with pytest.raises(ValueError, match="offload first, then compile"):
        ht.offload(compiled, device="host:0")
    model = Stack()
    model.compile()
    with pytest.raises(ValueError, match="offload first, then compile"):
        ht.offload(model, device="host:0")


def test_per_unit_functions(offload):
    model = Stack()
    want = model(ids())
    seen = []

    def function(module):
        assert isinstance(module, nn.Module)
        if isinstance(module, nn.Embedding):
            raise RuntimeError("not this one")
        seen.append(module)
        return module

    with pytest.warns(UserWarning, match='"embed" is not compiled'):
        offload(model, compile=function)
    calls = []
    model.blocks[0].register_forward_hook(lambda *_: calls.append(1))
    for _ in range(6):
        assert torch.equal(model(ids()), want)
    assert len(seen) == 7 and len(calls) == 6 and isinstance(seen[0], Block)


def test_units_by_hand(offload):
    """Parts of a model that is never called whole: one step around them."""
    model = Stack()
    x = torch.randn(3, 64)
    want = model.blocks[1](model.blocks[0](x))
    manager = ht.manager(offload(model))
    for _ in range(6):
        with manager.step():
            got = model.blocks[1](model.blocks[0](x))
        assert torch.equal(got, want)
    assert manager.query().steps == 6
    assert torch.equal(model.blocks[0](x), model.blocks[0](x)) and manager.query().steps == 8
