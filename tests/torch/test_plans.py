# SPDX-License-Identifier: Apache-2.0
"""Plans and budgets over time: requests, failures, buckets of shapes, a budget that hides, bytes that lie beside it."""

import copy
import gc
import json

import pytest
import torch
from torch import nn

import hoist
import hoist.torch as ht
from hoist.torch import budgets
from models import Stack, ids


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def serving(model, call=None, inputs=None):
    for _ in range(ht.manager(model).steps_before_serving + 1):
        (model if call is None else call)(ids() if inputs is None else inputs)
    return ht.manager(model)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_request_waits_for_steps_first(offload, compiled):
    model = offload(Stack())
    call = torch.compile(model, fullgraph=True, backend="aot_eager") if compiled else model
    manager = serving(model, call)
    want, before = call(ids()), manager.query().replans
    assert manager.request_replan(warm=1, measure=2) == 4
    with pytest.raises(ValueError, match=r"warm=-1, measure=2"):
        manager.request_replan(warm=-1, measure=2)
    seen = []
    for _ in range(4):
        status = manager.replan_status
        assert status == manager.replan_status and status.applied is None and status.can_request
        seen.append(status.state)
        assert torch.equal(call(ids()), want)
    assert seen == ["warming", "measuring", "measuring", "measuring"]
    status = manager.replan_status
    assert (status.state, status.applied, status.reason) == ("done", True, "") and manager.query().replans == before + 1
    assert manager.update_state(replay_generation=0).state == "done"


def test_a_failure_leaves_the_old_plan_and_is_tried_again(offload):
    model = offload(Stack(), placement="slots")
    manager = serving(model)
    want, plan = model(ids()), manager.native.plan().json()
    manager.native_device.set("fail", "memory_map@1")
    manager.budget.set_share(0.9)
    manager.request_replan()
    model(ids())
    manager.native_device.set("fail", "")
    status = manager.replan_status
    assert (status.state, status.applied, status.can_request) == ("failed", False, True) and status.reason
    assert manager.native.plan().json() == plan and torch.equal(model(ids()), want)
    assert manager.request_replan() == 1 and torch.equal(model(ids()), want)
    assert (manager.replan_status.state, manager.replan_status.reason) == ("done", "")


@pytest.mark.parametrize("compiled", [False, True])
def test_a_plan_for_each_bucket_of_shapes(offload, compiled):
    model = offload(Stack(), shape_buckets=True)
    call = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=False) if compiled else model
    few, many = ids(1, 3), ids(8, 40)
    manager = serving(model, call, few)
    wants = [call(few), call(many)]
    plans = []
    for inputs, want in zip((few, many), wants):
        for _ in range(7):
            assert torch.equal(call(inputs), want)
        plans.append(manager.native.problem().json())
    assert len(manager.buckets) == 2 and plans[0] != plans[1]  # other times
    for inputs, want, plan in zip((few, many, ids(1, 4)), (*wants, call(ids(1, 4))), (*plans, plans[0])):
        assert torch.equal(call(inputs), want)
        assert manager.native.problem().json() == plan  # at once
    assert manager.query().mispredictions == 0


def test_buckets_in_slots_are_refused(offload):
    model = Stack()
    with pytest.raises(ValueError, match="leave one of the two out"):
        ht.offload(model, "50%", device="host:0", placement="slots", shape_buckets=True)
    assert type(model) is Stack and ht.manager(model) is None


# --- budgets ---


def test_as_little_as_hides(offload):
    """Found from the measured problem: a step takes no longer than its compute, and with less it would."""
    model = offload(Stack(), budget=None)
    manager = serving(model)
    assert manager.query().budget_bytes >= manager.query().tensor_bytes  # measured with everything there
    facts = json.loads(manager.native.problem().json())
    everything = manager.query().tensor_bytes
    slow = {**facts, "units": [{**unit, "compute_us": 1e6} for unit in facts["units"]]}
    fast = {**facts, "units": [{**unit, "compute_us": 1e-3} for unit in facts["units"]]}
    hidden = budgets.smallest_hidden(hoist.Problem(json.dumps(slow)), everything)
    assert hidden < 0.6 * everything == 0.6 * budgets.smallest_hidden(hoist.Problem(json.dumps(fast)), everything)
    want = model(ids())
    for _ in range(3):
        assert torch.equal(model(ids()), want)
    manager.set_budget("40%")
    manager.set_budget(None)
    assert torch.equal(model(ids()), want)


def test_what_lies_beside_comes_off_a_joined_budget():
    class Net(Stack):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.zeros(30000))

    budget = hoist.Budget(hoist.Device("host:0"), budget="600000")
    budget.reserve(50000)  # what the script keeps on the device by itself
    models = [ht.offload(Net(), budget, device="host:0") for _ in range(2)]
    managers = [ht.manager(model) for model in models]
    beside = 50000 + sum(manager.resident_bytes for manager in managers)
    assert budget.query().reserved_bytes == beside >= 50000 + 2 * 120256
    assert budget.query().budget_bytes == 600000 - beside
    for _ in range(3):
        assert all(torch.isfinite(model(ids())).all() for model in models)
    assert budget.query().arena_bytes <= 600000 - beside
    with pytest.raises(hoist.errors.InfeasibleError, match="of them reserved"):
        budget.reserve(400000)
    managers[0].release()
    assert budget.query().reserved_bytes == beside - managers[1].resident_bytes
    models[1](ids())
    assert budget.query().budget_bytes == 600000 - budget.query().reserved_bytes
    del managers, models
    gc.collect()
    assert budget.query().reserved_bytes == 50000  # a model that is dropped gives back what it reserved


def test_a_reserve_ends_a_step_that_waits(offload):
    plain = Stack()
    model = offload(copy.deepcopy(plain), "260000")
    manager = ht.manager(model)
    with torch.enable_grad():
        want = torch.autograd.grad(plain(ids()).sum(), list(plain.parameters()))
        loss = model(ids()).sum()
        before = manager.query().budget_bytes
        with pytest.raises(hoist.errors.InvalidStateError, match="within a step"):
            manager.budget.reserve(4096)
        manager.reserve(4096)
        assert all(map(torch.equal, torch.autograd.grad(loss, list(model.parameters())), want))
    with manager.step(), pytest.raises(RuntimeError, match="within a step"):
        manager.reserve(4096)
    model(ids())
    assert manager.query().budget_bytes == before - 4096
    manager.budget.release(4096)


def test_a_refused_model_reserves_nothing():
    model = Stack()
    model.register_buffer("table", torch.zeros(30000))
    budget = hoist.Budget(hoist.Device("host:0"), budget="150000")
    with pytest.raises(hoist.errors.InfeasibleError, match="buffers take"):
        ht.offload(model, budget, device="host:0")
    assert budget.query().reserved_bytes == 0


def test_what_lies_beside_comes_off_a_budget_of_bytes(offload):
    class Net(Stack):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.zeros(30000))

    model = offload(Net(), "260000")
    manager = ht.manager(model)
    assert manager.resident_bytes >= 120000 + 256
    assert manager.query().budget_bytes == 260000 - manager.resident_bytes
    assert all(unit["workspace_bytes"] == 0 for unit in json.loads(manager.native.problem().json())["units"])
    serving(model)
    manager.set_budget("300000")
    model(ids())
    assert manager.query().budget_bytes == 300000 - manager.resident_bytes
    for bad in ("200%", "x%", "40 percent"):
        with pytest.raises(hoist.errors.InvalidArgumentError, match=f"option budget is '{bad}'"):
            manager.set_budget(bad)
    with pytest.raises(hoist.errors.InfeasibleError, match=f"buffers take {manager.resident_bytes} bytes"):
        manager.set_budget("150000")
    other = Net()
    with pytest.raises(hoist.errors.InfeasibleError, match="buffers take"):
        ht.offload(other, "150000", device="host:0")
    assert type(other) is Net


# --- exceptions out of ops ---


@pytest.mark.parametrize("compiled", [False, True])
def test_ops_raise_what_hoist_raises(offload, compiled):
    model = offload(Stack())
    call = torch.compile(model, fullgraph=True) if compiled else model
    manager = serving(model, call)
    manager.suspend()
    with pytest.raises(hoist.errors.InvalidStateError, match="resume") as caught:
        call(ids())
    assert caught.value.name == "HOIST_ERROR_INVALID_STATE" and caught.value.where == "hoist_step_begin"
    manager.resume()
    call(ids())
    with pytest.raises(RuntimeError, match="compile again"):
        torch.ops.hoist.step_begin(torch.zeros(1), 12345)


class Failing(nn.Module):
    def forward(self, x):
        raise RuntimeError("mine")


def test_other_errors_stay_what_they_are(offload):
    model = Stack()
    model.blocks.append(Failing())
    offload(model)
    with pytest.raises(RuntimeError, match="mine") as caught:
        model(ids())
    assert type(caught.value) is RuntimeError


@pytest.mark.parametrize("text", [None, "{", "[]", "{}"])
def test_a_file_that_holds_no_plan_leaves_the_model_plain(tmp_path, text):
    path = tmp_path / "plan.json"
    if text is not None:
        path.write_text(text)
    model = Stack()
    with pytest.raises(FileNotFoundError if text is None else ValueError, match="plan.json"):
        ht.offload(model, "50%", device="host:0", plan=path)
    assert ht.manager(model) is None and type(model) is Stack


def test_a_manager_after_release_says_so(offload):
    model = offload(Stack())
    manager = ht.manager(model)
    manager.release()
    assert "released" in repr(manager)
    with pytest.raises(RuntimeError, match="the model has been released"):
        manager.request_replan()


def test_what_is_no_model_and_no_device():
    with pytest.raises(TypeError, match="int is no torch.nn.Module"):
        ht.offload(3)
    with pytest.raises(ValueError, match="hots:0"):
        ht.offload(Stack(), device="hots:0")
    with pytest.raises(ValueError, match="not offloaded"):
        ht.save_plan(Stack(), "plan.json")
