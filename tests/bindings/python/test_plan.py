# SPDX-License-Identifier: Apache-2.0
import json

import hoist
import pytest


def problem_text(budget):
    link = {"latency_us": 1.0, "bytes_per_us": 10.0}
    units = [{"name": f"u{u}", "compute_us": 50.0, "workspace_bytes": 0} for u in range(3)]
    items = [{"name": f"w{u}", "bytes": 100, "class": "weight", "link": "h2d", "transient": False,
              "uses": [{"unit": u, "mode": "r"}]} for u in range(3)]
    return json.dumps({"version": 1, "device": {"budget_bytes": budget, "alignment": 1},
                       "links": {"h2d": link, "d2h": link, "peer": link}, "duplex_factor": 1.0, "cyclic": True,
                       "units": units, "items": items})


def test_problems_and_plans_are_exchanged_as_json():
    problem = hoist.Problem(problem_text(200))
    plan = hoist.Plan.solve(problem)
    plan.check(problem)
    assert hoist.Plan(problem, plan.json()).json() == plan.json()
    assert hoist.Problem(problem.json()).json() == problem.json()
    assert json.loads(plan.json())["version"] == 1


def test_results_are_measured_against_the_bound(tmp_path):
    problem = hoist.Problem(problem_text(200))
    trace = tmp_path / "trace.json"
    result = hoist.Plan.solve(problem, effort=10, time_limit_seconds=60).simulate(problem, trace)
    assert result.step_us >= problem.bound().step_us >= 150
    assert 0 < result.peak_bytes <= 200
    assert {"compute", "h2d"} <= {event["args"].get("name") for event in json.loads(trace.read_text())["traceEvents"]}


def test_explanations_name_every_item():
    problem = hoist.Problem(problem_text(200))
    text = hoist.Plan.solve(problem).explain(problem)
    assert all(f"w{u}" in text for u in range(3))


def test_errors_are_typed():
    with pytest.raises(hoist.InfeasibleError, match="100"):
        hoist.Plan.solve(hoist.Problem(problem_text(99)))
    with pytest.raises(hoist.CorruptError):
        hoist.Problem("{")
    problem = hoist.Problem(problem_text(200))
    with pytest.raises(hoist.InvalidPlanError):
        hoist.Plan.solve(hoist.Problem(problem_text(150))).check(problem)
    with pytest.raises(hoist.IoError):
        hoist.Plan.solve(problem).simulate(problem, "/nowhere/at/all.json")


def test_a_manager_takes_the_plan_that_it_gave(ring):
    with pytest.raises(hoist.InvalidStateError):
        ring.manager.replan()
    for _ in range(3):
        ring.step()
    problem, plan = ring.manager.problem(), ring.manager.plan()
    plan.check(problem)
    assert ring.manager.replan_query().can_request
    ring.manager.replan(problem, plan)
    assert ring.manager.replan_query().state == hoist.ReplanState.PENDING
    ring.step()
    assert ring.manager.replan_query().state == hoist.ReplanState.APPLIED
    ring.manager.replan_prepare(2)
    ring.step()
    ring.manager.replan()
    ring.step()


def test_traces_are_written_and_dropped(ring, tmp_path):
    path = tmp_path / "steps.json"
    for target in (None, path):
        ring.manager.trace_begin(0)
        for _ in range(3):
            ring.step()
        ring.manager.trace_end(target)
    names = {event["name"] for event in json.loads(path.read_text())["traceEvents"]}
    assert {"u0", "u1", "u2", "u3"} <= names
