# SPDX-License-Identifier: Apache-2.0
"""A bound that shares nothing with the planner: items as fluids that leave and come back by fractions, links as pipes,
bytes counted wherever a unit starts or ends. Every plan is one of its points, so none is below its least time. It sees
what bounds over windows do not: the bytes that loads ahead take."""

import numpy as np
from scipy import optimize, sparse

import families


def groups(problem, apart):
    """Items that nothing tells apart are one: (bytes in memory, uses, link, transient, load us, store us, members)."""
    alignment = problem["device"]["alignment"]
    links = problem["links"]
    merged = {}
    for item in problem["items"]:
        if not item["uses"] or item["bytes"] == 0:
            continue
        uses = tuple((use["unit"], use["mode"]) for use in item["uses"])
        key = (uses, item["link"], item["transient"]) + ((item["name"],) if apart else ())
        size, load, store = merged.get(key, (0, 0.0, 0.0))
        # Of merged items none has less latency a byte than the bytes alone: latency counts only where items are apart.
        lag = {name: link["latency_us"] if apart else 0.0 for name, link in links.items()}
        merged[key] = (size + families.up(item["bytes"], alignment),
                       load + lag[item["link"]] + item["bytes"] / links[item["link"]]["bytes_per_us"],
                       store + lag["d2h"] + item["bytes"] / links["d2h"]["bytes_per_us"])
    return [(key[:3], value) for key, value in merged.items()]


class Program:
    """Rows and columns of a linear program."""

    def __init__(self):
        self.low, self.high, self.cost = [], [], []
        self.rows, self.columns, self.values = [], [], []
        self.least, self.most = [], []

    def add(self, low, high, cost=0.0):
        self.low.append(low)
        self.high.append(high)
        self.cost.append(cost)
        return len(self.low) - 1

    def row(self, terms, least, most):
        for column, value in terms:
            self.rows.append(len(self.least))
            self.columns.append(column)
            self.values.append(value)
        self.least.append(least)
        self.most.append(most)

    def solve(self, seconds):
        matrix = sparse.csr_matrix((self.values, (self.rows, self.columns)), shape=(len(self.least), len(self.low)))
        return optimize.milp(self.cost, constraints=optimize.LinearConstraint(matrix, self.least, self.most),
                             bounds=optimize.Bounds(self.low, self.high), options={"time_limit": seconds})


def bound(problem, apart=False, seconds=60.0):
    """The least time of a cyclic step; None where no bound was found in time."""
    assert problem["cyclic"]
    program = Program()
    units = problem["units"]
    count = len(units)
    arena = problem["device"]["budget_bytes"] - max(
        families.up(u.get("workspace_bytes", 0), problem["device"]["alignment"]) for u in units)
    # Segment 2u waits for unit u, segment 2u + 1 is its compute; boundary b ends segment b.
    stall = [program.add(0, np.inf, 1.0) for _ in units]
    carried = [{"h2d": [], "d2h": [], "peer": []} for _ in range(2 * count)]
    held = [[] for _ in range(2 * count)]
    always = np.zeros(2 * count)
    for (uses, link, transient), (size, load_us, store_us) in groups(problem, apart):
        at = dict(uses)
        first, last = uses[0][0], uses[-1][0]
        spans = range(count)
        if transient:
            spans = range(first, last + 1)
        away, clean = {}, {}
        for unit in spans:
            for segment in (2 * unit, 2 * unit + 1):
                always[segment] += size
                if unit in at:
                    continue
                away[segment] = program.add(0, 1)
                clean[segment] = program.add(0, 1)
                held[segment].append((away[segment], -size))
        never_written = not any("w" in mode for _, mode in uses)
        for unit in spans:
            for segment in (2 * unit, 2 * unit + 1):
                before = (segment - 1) % (2 * count)
                begins = transient and segment == 2 * first
                # What comes back is loaded, before the unit that reads it starts.
                if segment % 2 == 0 or unit not in at:
                    if not begins and before in away:
                        loads = [(away[before], 1.0)] + ([(away[segment], -1.0)] if segment in away else [])
                        if not (unit in at and at[unit] == "w"):
                            load = program.add(0, 1)
                            carried[segment][link].append((load, load_us))
                            program.row(loads + [(load, -1.0)], -np.inf, 0.0)
                # Only what the host has may be away; a write makes all of it stale.
                if never_written or begins:
                    continue
                stale = unit in at and "w" in at[unit]
                if segment in clean or (unit in at and not stale):
                    store = program.add(0, 1)
                    carried[segment]["d2h"].append((store, store_us))
                    if segment not in clean:
                        clean[segment] = program.add(0, 1)
                    if before // 2 in at and "w" in at[before // 2] and before % 2 == 1:
                        program.row([(clean[segment], 1.0), (store, -1.0)], -np.inf, 0.0)
                    elif before in clean:
                        program.row([(clean[segment], 1.0), (store, -1.0), (clean[before], -1.0)], -np.inf, 0.0)
                    if segment in away:
                        program.row([(away[segment], 1.0), (clean[segment], -1.0)], -np.inf, 0.0)
    for segment in range(2 * count):
        program.row(held[segment], -np.inf, arena - always[segment])
        unit = segment // 2
        fixed = units[unit]["compute_us"] if segment % 2 else 0.0
        waits = [] if segment % 2 else [(stall[unit], -1.0)]
        down, up, peer = (carried[segment][name] for name in ("h2d", "d2h", "peer"))
        more = 1 / problem["duplex_factor"] - 1
        program.row(down + [(c, v * more) for c, v in up] + waits, -np.inf, fixed)
        program.row(up + [(c, v * more) for c, v in down] + waits, -np.inf, fixed)
        program.row(peer + waits, -np.inf, fixed)
    result = program.solve(seconds)
    if result.status != 0:
        return None
    return sum(u["compute_us"] for u in units) + result.fun
