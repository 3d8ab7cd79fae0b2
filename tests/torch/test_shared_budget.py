# SPDX-License-Identifier: Apache-2.0
"""Two models on one budget: they take turns as threads do, and forwards of both that wait for their backwards are one step."""

import copy
import gc
import threading
import time

import pytest
import torch

import hoist
import hoist.torch as ht
from hoist.torch import native
from models import Block, Listed
from test_turns import in_threads, same

X = torch.linspace(-1, 1, 64).reshape(4, 16)


@pytest.fixture
def pairs(offload):
    """Two models on one budget, and what they were."""
    def make(compiled=False, placement="arena"):
        torch.manual_seed(1)
        plain = [Listed(*(Block(16) for _ in range(3))) for _ in range(2)]
        models = [copy.deepcopy(model) for model in plain]
        budget = hoist.Budget(hoist.Device("host:0"), budget="60%", placement=placement)
        for model in models:
            offload(model, budget)
        return plain, models, [torch.compile(model, fullgraph=True) for model in models] if compiled else models

    return make


def gradients(loss, *models, **options):
    return torch.autograd.grad(loss, [p for model in models for p in model.parameters()], **options)


def first_one_waits(models, run):
    """Each goes forward while the other's backward has not come; the later one goes back first, then the other way."""
    one, two = (r(X).square().sum() for r in run)
    found = [gradients(two, models[1]), gradients(one, models[0])]
    one, two = (r(X).square().sum() for r in run)
    return [*found, gradients(one, models[0]), gradients(two, models[1])]


def one_after_the_other(models, run):
    """A loss through both, and one of the first alone after it."""
    return [gradients(run[1](run[0](X)).square().sum(), *models), gradients(run[0](X).sum(), models[0])]


def twice_before_its_backward(models, run):
    losses = [run[which](X * (at + 1)).square().sum() for at, which in enumerate((0, 1, 0, 1))]
    return [gradients(loss, models[which]) for loss, which in zip(losses, (0, 1, 0, 1))]


def without_gradients_between(models, run):
    one = run[0](X).square().sum()
    with torch.no_grad():
        other = run[1](X)
    return [[other], gradients(one, models[0])]


CASES = [first_one_waits, one_after_the_other, twice_before_its_backward, without_gradients_between]


def compare(pairs, compiled=False, **options):
    plain, models, run = pairs(compiled, **options)
    resident = [torch.compile(model, fullgraph=True) for model in plain] if compiled else plain
    for case in CASES:
        want = case(plain, resident)
        for _ in range(2):
            assert same(case(models, run), want), case.__name__
    for model in models:
        assert ht.manager(model).counters()["strays"] == 0
    assert ht.manager(models[0]).query().aborted_steps == 0


@pytest.mark.parametrize("placement", ["arena", "slots"])
def test_forwards_that_wait(pairs, placement):
    compare(pairs, placement=placement)


@pytest.mark.long
def test_compiled_forwards_that_wait(pairs):
    compare(pairs, compiled=True)


def test_both_in_one_step_of_one_plan(pairs):
    plain, models, _ = pairs()
    want = gradients(plain[1](plain[0](X)).sum(), *plain)
    query = ht.manager(models[0]).query
    for _ in range(12):
        assert all(map(torch.equal, gradients(models[1](models[0](X)).sum(), *models), want))
    before = query()
    for _ in range(4):
        gradients(models[1](models[0](X)).sum(), *models)
    assert query().steps == before.steps + 4 and query().mispredictions == before.mispredictions
    assert query().last_step_h2d_bytes > 0


def test_a_step_by_hand_plans_both_without_gradients(pairs):
    plain, models, _ = pairs()
    manager = ht.manager(models[0])
    with torch.no_grad():
        want = plain[1](plain[0](X))
        for _ in range(manager.steps_before_serving + 4):
            with manager.step():
                assert torch.equal(models[1](models[0](X)), want)
    now = manager.query()
    assert now.phase == hoist.Phase.SERVING and now.mispredictions == now.demand_loads == 0
    assert now.last_step_h2d_bytes > 0


def test_a_step_by_hand_plans_both_with_their_backwards(pairs):
    plain, models, _ = pairs()
    manager = ht.manager(models[0])
    want = [gradients(model(X).sum(), model) for model in plain]
    for _ in range(manager.steps_before_serving + 4):
        with manager.step():
            assert same([gradients(model(X).sum(), model) for model in models], want)
    manager.settle()
    now = manager.query()
    assert now.phase == hoist.Phase.SERVING and now.mispredictions == now.demand_loads == 0


def test_turns_that_no_plan_foresees_are_told(pairs):
    _, models, _ = pairs()
    managers = [ht.manager(model) for model in models]
    with torch.no_grad():
        with pytest.warns(UserWarning, match=r"8 of the last 16 steps .* with hoist.torch.manager\(model\).step\(\):") as told:
            for _ in range(managers[0].steps_before_serving + 12):
                for model in models:
                    model(X)
        assert len(told) == 1 and managers[0].replan_status.mispredicted_steps == 8
        for _ in range(20):  # as it says
            with managers[0].step():
                for model in models:
                    model(X)
    assert [manager.replan_status.mispredicted_steps for manager in managers] == [0, 0]


def test_one_within_the_others_forward(pairs):
    plain, models, _ = pairs()
    for pair in (plain, models):
        pair[0].parts[1].register_forward_hook(lambda module, args, out, other=pair[1]: out + other(out))
    want = gradients(plain[0](X).sum(), *plain)
    for _ in range(5):
        assert all(map(torch.equal, gradients(models[0](X).sum(), *models), want))
    assert ht.manager(models[0]).query().aborted_steps == 0


def test_a_forward_that_raises_lets_the_other_go_on(pairs):
    plain, models, _ = pairs()
    want = plain[1](X)

    def stop(*_):
        raise ZeroDivisionError

    handle = models[0].parts[1].register_forward_hook(stop)
    for _ in range(3):
        loss = models[1](X).sum()  # whose step the first one's forward goes on in, and gives up
        with pytest.raises(ZeroDivisionError):
            models[0](X)
        assert torch.equal(models[1](X), want)
        assert all(map(torch.equal, gradients(loss, models[1]), gradients(plain[1](X).sum(), plain[1])))
    handle.remove()
    assert torch.equal(models[0](X), plain[0](X))


def test_what_is_done_between_steps_is_refused_within_one(pairs):
    _, models, _ = pairs()
    manager = ht.manager(models[1])
    with ht.manager(models[0]).step(), pytest.raises(RuntimeError, match="another model on the same budget"):
        manager.settle()
    loss = models[0](X).sum()
    manager.settle()  # the step that waits for its backward ends
    manager.suspend()
    manager.resume()
    gradients(loss, models[0])


def test_threads_with_a_model_each(pairs):
    plain, models, _ = pairs()

    def body(which):
        def go():
            optimizer = torch.optim.SGD(models[which].parameters(), lr=1e-3)
            found = []
            for _ in range(4):
                models[which](X).square().sum().backward()
                found.append([p.grad.clone() for p in models[which].parameters()])
                optimizer.zero_grad()
            return found

        return go

    given = in_threads(body(0), body(1))
    for which, model in enumerate(plain):
        want = gradients(model(X).square().sum(), model)
        assert all(all(map(torch.equal, each, want)) for each in given[which])


def dropped(which, inside):
    """What becomes of a step that is open where the other model, or the step's own, is collected."""
    budget = hoist.Budget(hoist.Device("host:0"), budget="60%")
    torch.manual_seed(1)
    models = [Listed(*(Block(16) for _ in range(3))) for _ in range(2)]
    plain = copy.deepcopy(models)
    for model in models:
        ht.offload(model, budget)
    want = [gradients(model(X).sum(), model) for model in plain]
    for _ in range(3):
        for at, model in enumerate(models):
            assert same([gradients(model(X).sum(), model)], [want[at]])
    del model
    units = budget.query().unit_count

    def drop():
        models[which] = None
        gc.collect()

    inside(models, want, drop)
    gc.collect()
    other = models[1 - which]
    assert same([gradients(other(X).sum(), other)], [want[1 - which]])
    ht.manager(other).settle()
    now = budget.query()
    assert now.unit_count == units // 2 and now.aborted_steps == 0
    ht.manager(other).release()
    assert budget.query().unit_count == 0 == budget.query().pinned_bytes


def in_the_others_step(models, want, drop):
    with ht.manager(models[0]).step(), torch.no_grad():
        before = models[0](X)
        drop()
        assert torch.equal(models[0](X), before)


def with_a_part_in_it(models, want, drop):
    loss = models[0](X).sum()
    models[1](X)
    drop()
    assert same([gradients(loss, models[0])], [want[0]])


def whose_backward_never_comes(models, want, drop):
    loss = models[1](X).sum()
    drop()
    del loss


@pytest.mark.parametrize("inside", [in_the_others_step, with_a_part_in_it, whose_backward_never_comes])
def test_a_model_that_is_dropped_tears_no_step(inside):
    dropped(1, inside)


def test_a_release_waits_for_another_threads_step(pairs):
    plain, models, _ = pairs()
    want, inside, found = plain[0](X), threading.Event(), []
    stop = models[0].parts[1].register_forward_hook(lambda *_: (inside.set(), time.sleep(0.01)) and None)

    def go():
        with torch.no_grad():
            for _ in range(20):
                found.append(torch.equal(models[0](X), want))

    def end():
        inside.wait(60)
        ht.manager(models[1]).release()

    in_threads(go, end)
    stop.remove()
    assert found == [True] * 20 and ht.manager(models[1]) is None
    assert ht.manager(models[0]).query().aborted_steps == 0
    assert all(map(torch.equal, (models[1](X),), (plain[1](X),)))


def test_turns_of_budgets_that_are_gone_are_forgotten():
    def forget(models):
        for model in models:
            ht.manager(model).release()
        gc.collect()

    forget([ht.offload(Block(16), "100%", device="host:0")])
    before = native.library.hoist_torch_turn_count()
    forget([ht.offload(Block(16), "100%", device="host:0") for _ in range(8)])
    forget([ht.offload(Block(16), "100%", device="host:0")])
    assert native.library.hoist_torch_turn_count() <= before
