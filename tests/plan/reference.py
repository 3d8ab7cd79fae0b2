# SPDX-License-Identifier: Apache-2.0
"""The rules of execution a second time, from the page and not from the C++: slow, literal, item by item.

validate(problem, plan) raises Invalid where the plan breaks a rule; simulate() returns the step's time.
"""

from dataclasses import dataclass, field


class Invalid(Exception):
    """A plan that breaks the rules, and why."""


def up(size, alignment):
    return -(-size // alignment) * alignment


class Model:
    """A problem with its sizes rounded and its uses by unit."""

    def __init__(self, problem):
        self.problem = problem
        self.alignment = problem["device"].get("alignment", 1)
        self.items = {item["name"]: item for item in problem["items"]}
        self.size = {name: up(item["bytes"], self.alignment) for name, item in self.items.items()}
        self.units = problem["units"]
        self.cyclic = problem.get("cyclic", True)
        self.workspace = max(up(unit.get("workspace_bytes", 0), self.alignment) for unit in self.units)
        self.arena = problem["device"]["budget_bytes"] - self.workspace
        self.uses = [[] for _ in self.units]
        for name, item in self.items.items():
            for use in item["uses"]:
                self.uses[use["unit"]].append((name, use["mode"]))
        self.first = {n: min((u["unit"] for u in i["uses"]), default=None) for n, i in self.items.items()}
        self.last = {n: max((u["unit"] for u in i["uses"]), default=None) for n, i in self.items.items()}
        self.mode = {(n, u["unit"]): u["mode"] for n, i in self.items.items() for u in i["uses"]}

    def transient(self, name):
        return self.items[name].get("transient", False)

    def loads_over(self, name):
        return self.items[name].get("link", "h2d")

    def work(self, link, name):
        rate = self.problem["links"][link]
        return rate["latency_us"] + self.items[name]["bytes"] / rate["bytes_per_us"]

    def next_use(self, name, after):
        later = [u["unit"] for u in self.items[name]["uses"] if u["unit"] > after]
        if later:
            return min(later)
        return self.first[name] if self.cyclic else None


def require(condition, *why):
    if not condition:
        raise Invalid(" ".join(str(part) for part in why))


def check_fields(model, plan):
    require(plan["version"] == 1, "version", plan["version"])
    low = 0 if model.cyclic else -1
    last = low
    for op in plan["ops"]:
        require(op["item"] in model.items, "unknown item", op)
        require(low <= op["after"] < len(model.units), "no such unit", op)
        require(op["after"] >= last, "not sorted by after", op)
        last = op["after"]
        if op["op"] == "load":
            require(op["before"] == model.next_use(op["item"], op["after"]), "before is not the next use", op)
    for name, offset in [*plan["initial_resident"].items(), *plan["births"].items()]:
        check_place(model, name, offset)
    for op in plan["ops"]:
        if op["op"] == "load":
            check_place(model, op["item"], op["offset"])
    for name in plan["births"]:
        require("w" in [u["mode"] for u in model.items[name]["uses"]], "births: no use has mode w:", name)


def check_place(model, name, offset):
    require(offset >= 0 and offset + model.size[name] <= model.arena, "outside the arena:", name, offset)
    require(offset % model.alignment == 0, "not aligned:", name, offset)


def check_homes(model, plan):
    homes = plan["homes"]
    require(set(homes) == set(model.items), "homes: not every item")
    for name, offset in homes.items():
        if model.first[name] is not None:
            check_place(model, name, offset)
    for unit, uses in enumerate(model.uses):
        spans = sorted((homes[n], homes[n] + model.size[n], n) for n, _ in uses if model.size[n])
        for (_, end, a), (begin, _, b) in zip(spans, spans[1:]):
            require(end <= begin, "homes overlap in unit", unit, a, b)


class List:
    """The ops read in their order, with each birth at its unit."""

    def __init__(self, model, plan):
        self.model, self.plan = model, plan
        self.here = {}  # name -> offset
        self.stale = {n: model.transient(n) for n in model.items}  # the host has no valid copy
        self.born = set()

    def put(self, name, offset, what):
        require(name not in self.here, what, name, "is on the device already")
        end = offset + self.model.size[name]
        for other, at in self.here.items():
            apart = end <= at or at + self.model.size[other] <= offset
            require(apart or offset == end or not self.model.size[other], what, name, "overlaps", other)
        self.here[name] = offset

    def unit(self, u):
        model = self.model
        for name, mode in model.uses[u]:
            if name not in self.here and mode == "w" and name in self.plan["births"]:
                self.put(name, self.plan["births"][name], f"birth in unit {u}:")
                self.born.add(name)
            require(name in self.here, "unit", u, "uses", name, "which is absent")
            if "w" in mode:
                self.stale[name] = True
        for name, _ in model.uses[u]:
            if model.transient(name) and model.last[name] == u:
                del self.here[name]
                self.stale[name] = True

    def op(self, op):
        name = op["item"]
        if op["op"] == "load":
            require(not self.stale[name], "load: no valid host copy of", name)
            self.put(name, op["offset"], "load:")
            return
        gone = self.model.transient(name) and op["after"] >= self.model.last[name]
        if op["op"] == "drop" and gone and name not in self.here:
            return
        require(name in self.here, op["op"], "of absent", name)
        if op["op"] == "store":
            self.stale[name] = False
        else:
            require(not self.stale[name], "drop of dirty", name)
            del self.here[name]

    def step(self):
        ops = iter(self.plan["ops"])
        op = next(ops, None)
        for u in range(-1, len(self.model.units)):
            if u >= 0:
                self.unit(u)
            while op is not None and op["after"] == u:
                self.op(op)
                op = next(ops, None)


def check_order(model, plan):
    reading = List(model, plan)
    initial = plan["initial_resident"]
    require(model.cyclic or not initial, "single-shot: nothing is resident before")
    for name, offset in initial.items():
        require(not model.transient(name), "initial_resident: transient", name)
        reading.put(name, offset, "initial_resident:")
    for _ in range(2 if model.cyclic else 1):
        reading.step()
        if model.cyclic:
            require(reading.here == initial, "the step does not end as it begins")
    for name in plan["births"]:
        require(name in reading.born, "births: no write finds it absent:", name)
    if not model.cyclic:
        for name in model.items:
            require(model.transient(name) or not reading.stale[name], "dirty at the end:", name)


@dataclass
class Stay:
    """An item on the device."""

    offset: int
    loaded: bool
    leaving: bool = False
    stores: int = 0  # eligible, listed before its drop and not ended


@dataclass
class Link:
    queue: list = field(default_factory=list)  # eligible ops, in order
    op: dict = None
    rest: float = 0.0


class Machine:
    """Literal: every event looks at everything."""

    def __init__(self, model, plan):
        self.model, self.plan = model, plan
        self.now = 0.0
        self.links = {"h2d": Link(), "d2h": Link(), "peer": Link()}
        self.here = {n: Stay(at, True) for n, at in plan["initial_resident"].items()}
        self.stores = {n: 0 for n in model.items}
        self.unit = 0
        self.running = None  # when the running unit ends
        self.ends = []  # of steps
        self.left = []  # at these: the work that each link has left of the ops that are eligible
        self.peak = self.held()
        self.by_after = {}
        for op in plan["ops"]:
            self.by_after.setdefault(op["after"], []).append(op)

    def held(self):
        return sum(self.model.size[n] for n in self.here)

    def place_is_free(self, name, offset):
        end = offset + self.model.size[name]
        if name in self.here:
            return False
        for other, stay in self.here.items():
            if max(offset, stay.offset) < min(end, stay.offset + self.model.size[other]):
                return False
        return True

    def submit(self, after):
        for op in self.by_after.get(after, []):
            name = op["item"]
            if op["op"] == "drop":
                self.leave(name, after)
                continue
            if op["op"] == "store":
                require(name in self.here, "store of absent", name)
                self.stores[name] += 1
            link = "d2h" if op["op"] == "store" else self.model.loads_over(name)
            self.links[link].queue.append(op)

    def leave(self, name, after):
        if name not in self.here and self.model.transient(name) and after >= self.model.last[name]:
            return
        require(name in self.here, "drop of absent", name)
        self.here[name].leaving = True
        self.sweep()

    def sweep(self):
        for name in [n for n, s in self.here.items() if s.leaving and s.loaded and not self.stores[n]]:
            del self.here[name]

    def brings(self, name, mode):
        """Whether the unit brings the item into being: a write of an item that is not there, or is going."""
        stay = self.here.get(name)
        return mode == "w" and name in self.plan["births"] and (stay is None or stay.leaving)

    def can_start_unit(self):
        for name, mode in self.model.uses[self.unit]:
            stay = self.here.get(name)
            ready = stay is not None and stay.loaded and not stay.leaving
            if "r" in mode and not ready:
                return False
            if "w" in mode and self.stores[name]:
                return False
            if mode == "w" and not ready and not self.brings(name, mode):
                raise Invalid("unit", self.unit, "writes", name, "which is absent or still being loaded")
            if self.brings(name, mode) and not self.place_is_free(name, self.plan["births"][name]):
                return False
        return True

    def start_unit(self):
        for name, mode in self.model.uses[self.unit]:
            if self.brings(name, mode):
                self.here[name] = Stay(self.plan["births"][name], True)
        self.running = self.now + self.model.units[self.unit]["compute_us"]

    def end_unit(self):
        unit, self.running = self.unit, None
        for name, _ in self.model.uses[unit]:
            if self.model.transient(name) and self.model.last[name] == unit:
                self.here[name].leaving = True
        self.sweep()
        self.submit(unit)
        self.unit += 1
        if self.unit == len(self.model.units):
            self.ends.append(self.now)
            self.left.append([state.rest * (state.op is not None) + sum(self.model.work(link, op["item"])
                              for op in state.queue) for link, state in self.links.items()])
            self.unit = 0 if self.model.cyclic else None

    def start_links(self):
        started = False
        for link, state in self.links.items():
            if state.op is not None or not state.queue:
                continue
            op = state.queue[0]
            if op["op"] == "load":
                if not self.place_is_free(op["item"], op["offset"]):
                    continue
                self.here[op["item"]] = Stay(op["offset"], False)
            state.op = state.queue.pop(0)
            state.rest = self.model.work(link, op["item"])
            started = True
        return started

    def end_op(self, state):
        op, state.op = state.op, None
        if op["op"] == "load":
            self.here[op["item"]].loaded = True
        else:
            self.stores[op["item"]] -= 1
        self.sweep()

    def rate(self, link):
        both = self.links["h2d"].op is not None and self.links["d2h"].op is not None
        return self.model.problem.get("duplex_factor", 1.0) if both and link != "peer" else 1.0

    def settle(self):
        """Everything of one instant; False once there is nothing to wait for."""
        again = True
        while again and not self.finished():
            again = False
            for state in self.links.values():
                if state.op is not None and state.rest <= 1e-9:
                    self.end_op(state)
                    again = True
            if self.running is not None and self.running <= self.now + 1e-9:
                self.end_unit()
                again = True
            if self.unit is not None and self.running is None and not self.finished() and self.can_start_unit():
                self.start_unit()
                again = True
            again = self.start_links() or again
            self.peak = max(self.peak, self.held())

    def finished(self):
        if not self.model.cyclic:
            idle = all(s.op is None and not s.queue for s in self.links.values())
            return bool(self.ends) and idle
        return self.repeats() or len(self.ends) >= 64

    def repeats(self):
        steps = self.steps()[-3:]
        if len(steps) < 3 or max(steps) - min(steps) > 1e-6 * max(steps):
            return False
        return all(abs(b - a) <= 1e-6 * steps[-1] for a, b in zip(*self.left[-2:]))

    def steps(self):
        return [b - a for a, b in zip([0.0, *self.ends], self.ends)]

    def advance(self):
        waits = [s.rest / self.rate(link) for link, s in self.links.items() if s.op is not None]
        if self.running is not None:
            waits.append(self.running - self.now)
        require(waits, "nothing can go on: unit", self.unit, "heads", [s.queue[:1] for s in self.links.values()])
        wait = max(0.0, min(waits))
        rates = {link: self.rate(link) for link in self.links}
        for link, state in self.links.items():
            if state.op is not None:
                state.rest -= wait * rates[link]
        self.now += wait

    def run(self):
        if not self.model.cyclic:
            self.submit(-1)
        self.settle()
        while not self.finished():
            self.advance()
            self.settle()
        if not self.model.cyclic:
            return self.now
        steps = self.steps()
        return steps[-1] if self.repeats() else sum(steps[-8:]) / 8


def simulate(problem, plan):
    """(step time, peak bytes with the largest workspace) of a plan. Raises Invalid."""
    model = Model(problem)
    check_fields(model, plan)
    check_order(model, plan)
    machine = Machine(model, plan)
    step = machine.run()
    return step, machine.peak + model.workspace


def validate(problem, plan):
    """simulate() and the homes."""
    result = simulate(problem, plan)
    check_homes(Model(problem), plan)
    return result
