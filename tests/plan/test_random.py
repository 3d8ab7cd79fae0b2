# SPDX-License-Identifier: Apache-2.0
"""Random small problems: the plans, the C++ checker and the independent reading agree; broken plans are refused."""

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import families
import reference
from client import Refused
from conftest import everything

EXAMPLES = settings(max_examples=5000 if everything() else 250, deadline=None, derandomize=True,
                    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def homes_exist(problem):
    """Whether one place an item can keep those of each unit apart. Places that do can be pushed down until each item
    stands on 0 or on another: first fit in some order finds them, and all orders are tried."""
    alignment = problem["device"]["alignment"]
    workspace = max(families.up(u.get("workspace_bytes", 0), alignment) for u in problem["units"])
    arena = problem["device"]["budget_bytes"] - workspace
    items = [(families.up(i["bytes"], alignment), {use["unit"] for use in i["uses"]})
             for i in problem["items"] if i["uses"] and i["bytes"]]

    def fit(placed, rest):
        if not rest:
            return True
        for index in rest:
            size, units = items[index]
            offset = 0
            for begin, end in sorted((b, e) for b, e, others in placed if units & others):
                if offset + size <= begin:
                    break
                offset = max(offset, end)
            if offset + size > arena:
                return False  # nor will it fit beside more
            if fit(placed + [(offset, offset + size, units)], rest - {index}):
                return True
        return False

    return fit([], frozenset(range(len(items))))


def solved(planner, problem, command="solve"):
    """The plan; None where fragmentation prevents one, with a budget that works."""
    try:
        return planner.ask(command, problem)["plan"]
    except Refused as refused:
        assert refused.code == 7 and "fragmentation" in refused.message
        assert not homes_exist(problem)
        larger = copy.deepcopy(problem)
        larger["device"]["budget_bytes"] = int(refused.hint.split()[3])
        reference.validate(larger, planner.ask(command, larger)["plan"])
        return None


@EXAMPLES
@given(seed=st.integers(0, 2**32))
def test_plans_are_valid_and_predicted(planner, seed):
    problem = families.fuzzed(seed)
    plan = solved(planner, problem)
    naive = solved(planner, problem, "naive")
    if plan is None or naive is None:
        return
    step, peak = reference.validate(problem, plan)
    assert step == pytest.approx(plan["predicted"]["step_us"], rel=1e-6, abs=1e-6)
    assert peak == plan["predicted"]["peak_bytes"]
    naive_step, _ = reference.validate(problem, naive)
    assert naive_step == pytest.approx(naive["predicted"]["step_us"], rel=1e-6, abs=1e-6)
    assert step <= naive_step * (1 + 1e-9) + 1e-9


@EXAMPLES
@given(seed=st.integers(0, 2**32), data=st.data())
def test_broken_plans_are_refused_by_both(planner, seed, data):
    problem = families.fuzzed(seed)
    plan = solved(planner, problem)
    if plan is None or not plan["ops"]:
        return
    broken = copy.deepcopy(plan)
    index = data.draw(st.integers(0, len(broken["ops"]) - 1))
    change = data.draw(st.sampled_from(["remove", "repeat", "later", "move", "swap"]))
    op = broken["ops"][index]
    if change == "remove":
        del broken["ops"][index]
    elif change == "repeat":
        broken["ops"].insert(index, dict(op))
    elif change == "later":
        op["after"] = data.draw(st.integers(0, len(problem["units"]) - 1))
    elif change == "move" and "offset" in op:
        op["offset"] += problem["device"]["alignment"] * data.draw(st.integers(1, 50))
    else:
        other = data.draw(st.integers(0, len(broken["ops"]) - 1))
        broken["ops"][index], broken["ops"][other] = broken["ops"][other], broken["ops"][index]
    # The page says what is valid: both readings must say the same.
    try:
        expected, _ = reference.simulate(problem, broken)
    except reference.Invalid:
        expected = None
    try:
        got = planner.ask("simulate", problem, plan=broken)["step_us"]
    except Refused as refused:
        assert refused.code == 14, refused
        got = None
    assert (expected is None) == (got is None)
    if got is not None:
        assert got == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_a_birth_that_never_is_is_refused_by_both(planner):
    links = {"h2d": {"latency_us": 0, "bytes_per_us": 1}, "d2h": {"latency_us": 0, "bytes_per_us": 1}}
    problem = {"version": 1, "device": {"budget_bytes": 64}, "links": links, "units": [{"name": "u", "compute_us": 1}],
               "items": [{"name": "s", "bytes": 8, "class": "state", "uses": [{"unit": 0, "mode": "w"}]}]}
    plan = solved(planner, problem)
    assert plan["initial_resident"] == {"s": 0} and not plan["births"] and not plan["ops"]
    plan["births"] = {"s": 0}
    with pytest.raises(reference.Invalid, match="births"):
        reference.simulate(problem, plan)
    with pytest.raises(Refused, match="births"):
        planner.ask("simulate", problem, plan=plan)
