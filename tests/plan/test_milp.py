# SPDX-License-Identifier: Apache-2.0
"""Bounds from SciPy. The MILP that shares nothing with the planner: which gaps stay, so that every unit fits and the
longest of compute and link times is least; it sees no loads ahead. The fluid does. No plan can be below either."""

import numpy as np
from scipy import optimize as scipy_optimize

import conftest
import families
import fluid


def gaps(problem):
    """(item, units strictly between, load time over its link, link) of every gap that could be evicted."""
    count = len(problem["units"])
    for item in problem["items"]:
        units = [use["unit"] for use in item["uses"]]
        rate = problem["links"][item["link"]]
        time = rate["latency_us"] + item["bytes"] / rate["bytes_per_us"]
        for n, unit in enumerate(units):
            last = n + 1 == len(units)
            if last and item["transient"]:
                continue
            to = units[0] + count if last else units[n + 1]
            loads = item["uses"][0 if last else n + 1]["mode"] != "w"
            yield item, [u % count for u in range(unit + 1, to)], time if loads else 0.0


def milp_bound(problem):
    listed = list(gaps(problem))
    alignment = problem["device"]["alignment"]
    workspace = max(families.up(u["workspace_bytes"], alignment) for u in problem["units"])
    room = np.full(len(problem["units"]), float(problem["device"]["budget_bytes"] - workspace))
    for item in problem["items"]:
        for use in item["uses"]:
            room[use["unit"]] -= families.up(item["bytes"], alignment)
    compute = sum(u["compute_us"] for u in problem["units"])
    # Variables: a gap stays (1) or not, then the time. Rows: bytes by unit; each link's loads below the time.
    fits = np.zeros((len(room), len(listed) + 1))
    links = np.zeros((2, len(listed) + 1))
    loaded = np.zeros(2)
    for column, (item, between, time) in enumerate(listed):
        for unit in between:
            fits[unit, column] = families.up(item["bytes"], alignment)
        link = 0 if item["link"] == "h2d" else 1
        links[link, column] = time
        loaded[link] += time
    links[:, -1] = 1
    objective = np.zeros(len(listed) + 1)
    objective[-1] = 1
    constraints = [scipy_optimize.LinearConstraint(fits, -np.inf, room),
                   scipy_optimize.LinearConstraint(links, loaded, np.inf)]
    bounds = scipy_optimize.Bounds([0] * len(listed) + [compute], [1] * len(listed) + [np.inf])
    integral = np.array([1] * len(listed) + [0])
    result = scipy_optimize.milp(objective, constraints=constraints, bounds=bounds, integrality=integral)
    return result.fun if result.success else None


def shown(name, ratios):
    conftest.FIGURES.append(f"{name}: step over bound, mean {sum(ratios) / len(ratios):.3f}, at most {max(ratios):.3f} "
                            f"of {len(ratios)}")


def test_small_stacks(planner):
    over_milp, over_fluid = [], []
    for seed in range(12):
        share = 0.3 + 0.05 * seed
        problem = families.stack(6 + seed % 5, share, 1.3, width=512 * (1 + seed % 3), mixed=seed % 2 == 1, seed=seed)
        step = planner.ask("solve", problem)["plan"]["predicted"]["step_us"]
        over_milp.append(step / milp_bound(problem))
        over_fluid.append(step / fluid.bound(problem, apart=True))
    shown("stacks of 6 to 10 units, MILP", over_milp)
    shown("stacks of 6 to 10 units, fluid", over_fluid)
    assert min(over_milp) >= 1 - 1e-6 and min(over_fluid) >= 1 - 1e-6
    # Few units: the loads ahead that the MILP does not see take a large part of the arena.
    assert sum(over_milp) / 12 <= 1.3 and max(over_milp) <= 1.65
    assert sum(over_fluid) / 12 <= 1.06 and max(over_fluid) <= 1.15


def test_training_against_the_fluid(planner):
    ratios = []
    for share in (0.3, 0.5, 0.8, 0.9):
        problem = families.training(8, share, 0.7)
        ratios.append(planner.ask("solve", problem)["plan"]["predicted"]["step_us"] / fluid.bound(problem))
    shown("training of 8 layers, fluid", ratios)
    assert min(ratios) >= 1 - 1e-6 and max(ratios) <= 1.06


# Half of the bytes have no compute to hide behind, and the budget bounds how many can come ahead.
def test_a_word_table_before_layers(planner):
    over_bound, over_fluid = [], []
    for ratio in (1.1, 1.5, 2.0):
        problem = families.table(15, 6, 0.4, ratio)
        step = planner.ask("solve", problem)["plan"]["predicted"]["step_us"]
        over_bound.append(step / planner.ask("bound", problem)["step_us"])
        over_fluid.append(step / fluid.bound(problem, apart=True))
    shown("a word table before layers, the page's bound", over_bound)
    shown("a word table before layers, fluid", over_fluid)
    assert min(over_fluid) >= 1 - 1e-6 and max(over_fluid) <= 1.03


def test_random_problems(planner):
    ratios, over_fluid = [], []
    for seed in range(400):
        problem = families.fuzzed(seed, 6, 6)
        if not problem["cyclic"]:
            continue
        try:
            plan = planner.ask("solve", problem)["plan"]
        except Exception:
            continue
        bound = milp_bound(problem)
        step = plan["predicted"]["step_us"]
        work = max(sum(t for _, _, t in gaps(problem)), 1e-9)
        if bound is None or bound <= 0 or not steady(problem, plan):
            continue
        assert step >= bound * (1 - 1e-6), (seed, step, bound, work)
        ratios.append(step / bound)
        least = fluid.bound(problem, apart=True)
        assert step >= least * (1 - 1e-6), (seed, step, least)
        over_fluid.append(step / max(least, 1e-9))
    shown("random problems, MILP", ratios)
    shown("random problems, fluid", over_fluid)
    assert len(ratios) > 150


def steady(problem, plan):
    """Whether the links carry a step's copies within a step: three equal steps can pass before a backlog shows."""
    return families.link_us(problem, plan) <= plan["predicted"]["step_us"] * (1 + 1e-6)
