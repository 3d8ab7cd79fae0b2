# SPDX-License-Identifier: Apache-2.0
"""Whatever an argument is, the answer is an exception that fits and names it, never a crash of the process."""

import ast
import json
from pathlib import Path

import hoist
import numpy as np
import pytest
from conftest import Ring

STUB = ast.parse((Path(hoist.__file__).parent / "_hoist.pyi").read_text())
MEETS = (hoist.Error, TypeError, ValueError, BufferError, IndexError)
PROBLEM = json.dumps({
    "version": 1, "device": {"budget_bytes": 4096, "alignment": 512}, "links": {"h2d": {"bytes_per_us": 10}},
    "units": [{"name": "a", "compute_us": 1}],
    "items": [{"name": "w", "bytes": 1000, "uses": [{"unit": 0, "mode": "r"}]}]})


class World(Ring):
    """One of each, and what each argument is given where another one is the bad one."""

    def __init__(self):
        super().__init__("host:0?mode=inline")
        self.commit()
        for _ in range(4):
            self.step()
        device = self.device
        self.building = hoist.Manager(device, hoist.Budget(device))
        self.memory = hoist.Memory(device, 64)
        problem = hoist.Problem(PROBLEM)
        plan = hoist.Plan.solve(problem)
        self.building.add_zero(self.building.add_unit("a"), "z", 64)
        self.selves = {"Device": device, "Stream": self.stream, "Budget": self.budget, "Manager": self.manager,
                       "Memory": self.memory, "Event": hoist.Event(device), "Sequence": hoist.Sequence(device, "s"),
                       "Plan": plan, "DLPackView": self.memory.dlpack("uint8"), "Problem": problem}
        self.good = {"device": device, "stream": self.stream, "event": self.selves["Event"], "name": "w1", "bytes": 64,
                     "begin": self.selves["Event"], "end": self.selves["Event"], "unit": 0, "tensor": 0, "key": "fail",
                     "value": "1", "source": np.ones(64, np.uint8), "mode": hoist.UseMode.READ, "budget": self.budget,
                     "dtype": "uint8", "problem": problem, "plan": plan, "json": PROBLEM, "path": "/nonexistent/x",
                     "index": 0, "threshold": hoist.LogLevel.WARNING, "status": 3, "share": .5, "native": 1,
                     "kind": hoist.CopyKind.H2D, "dst": self.memory, "src": bytes(64), "function": print, "effect": 0,
                     "modelled_us": 1.0, "token": 0, "event_limit": 9, "step_limit": 9, "steps": 0, "effort": 1,
                     "time_limit_seconds": 1.0}

    def bad(self):
        closed = hoist.Manager(self.device, hoist.Budget(self.device))
        closed.close()
        frozen = np.ones(64, np.uint8)
        frozen.flags.writeable = False
        return [None, -1, 1 << 64, 1 << 200, -(1 << 64), 1.5, float("nan"), float("inf"), "", "a\0b", "\udc80", b"", b"\xff",
                (), [], {}, object(), np.arange(64, dtype=np.uint8)[::2], np.ones((8, 8), np.float32).T,
                np.zeros(0, np.uint8), np.int64(-3), bytearray(3), ..., int, frozen, closed, *self.selves.values()]


def functions():
    """(class or None, name, its parameters) of all that can be called with an argument, of those that a World has."""
    for node in STUB.body:
        parts = node.body if isinstance(node, ast.ClassDef) else [node]
        for part in parts:
            if not isinstance(part, ast.FunctionDef) or part.name in ("__enter__", "__exit__", "__getitem__"):
                continue
            names = [a.arg for a in (*part.args.args, *part.args.kwonlyargs) if a.arg != "self"]
            static = any(getattr(it, "id", "") == "staticmethod" for it in part.decorator_list)
            owner = node.name if isinstance(node, ast.ClassDef) else None
            if names and owner not in ("Graph", "Checkpoint", "UnitView", "TensorView", "Step"):
                yield pytest.param(owner, part.name, names, static, id=f"{owner or 'hoist'}.{part.name}")


def callee(world, owner, name, static):
    if owner is None:
        return getattr(hoist, name)
    if name == "__init__":
        return getattr(hoist, owner)
    if static:
        return getattr(getattr(hoist, owner), name)
    building = owner == "Manager" and name.startswith(("add_", "set_"))
    return getattr(world.building if building else world.selves[owner], name)


@pytest.mark.parametrize("owner, name, names, static", list(functions()))
def test_every_argument_of_every_function(owner, name, names, static, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some of these are good names of files
    refused = 0
    for argument in names:
        world = World()
        for value in world.bad():
            given = {key: world.good.get(key) for key in names} | {argument: value}
            try:
                made = callee(world, owner, name, static)(**given)
                world.stream.wait()
                if name == "step":
                    with made:
                        pass
            except MEETS as error:
                refused += 1
                assert not isinstance(error, hoist.errors.InternalError), (argument, value, error)
        world.manager.close()
    assert refused > 3 * len(names)


@pytest.mark.parametrize("call, kind, says", [
    (lambda w: hoist.Memory(None, 64), TypeError, "(?s)device: .*Invoked with: None"),
    (lambda w: hoist.HostMemory(None, 64), TypeError, "(?s)device: .*Invoked with: None"),
    (lambda w: hoist.Stream(None), TypeError, "(?s)device: .*Invoked with: None"),
    (lambda w: hoist.Stream.wrap(None, 1), TypeError, "(?s)device: .*Invoked with: None"),
    (lambda w: hoist.Sequence(None, "s"), TypeError, "(?s)device: .*Invoked with: None"),
    (lambda w: hoist.Manager(None, None), TypeError, "(?s)device: .*Invoked with: None"),
    (lambda w: w.manager.step(None), TypeError, "(?s)stream: .*None"),
    (lambda w: w.stream.submit_copy(hoist.CopyKind.H2D, 3, b"x"), TypeError, "dst is 3, of type int: give a TensorView"),
    (lambda w: w.stream.submit_copy(hoist.CopyKind.H2D, w.memory, 3), TypeError, "src is 3, of type int: give a buffer"),
    (lambda w: w.stream.submit_fill(None, 0), TypeError, "dst is None, of type NoneType"),
    (lambda w: w.stream.submit_host("f", 1.0), TypeError, "function is 'f', of type str: give what can be called"),
    (lambda w: hoist.log_set(hoist.LogLevel.INFO, 3), TypeError, "callback is 3, of type int"),
    (lambda w: w.selves["Sequence"].submit(0, 0, 3), TypeError, "stream is 3, of type int: give a Stream or None"),
    (lambda w: w.building.add_copied(0, "n", None), TypeError, "source is None, of type NoneType: give a buffer"),
    (lambda w: w.building.add_copied(0, "n", np.arange(8)[::2]), ValueError, "source: .*contiguous"),
    (lambda w: w.building.add_adopted(0, "n", b"x"), BufferError, "source: .*not writable"),
    (lambda w: w.manager.read(0, b"x"), BufferError, "out: .*not writable"),
    (lambda w: w.manager.read(0, 3), TypeError, "out is 3, of type int"),
    (lambda w: w.manager.host_view(0, "no"), TypeError, "dtype: "),
    (lambda w: w.memory.dlpack("\udc80"), ValueError, "dtype: "),
    (lambda w: w.building.add_unit("a\0b"), hoist.InvalidArgumentError, 'name "a" goes on after a zero byte'),
    (lambda w: w.building.add_copied(0, "a\0b", b"x"), hoist.InvalidArgumentError, 'name "a" goes on after a zero'),
    (lambda w: hoist.Device("host:0\0?"), hoist.InvalidArgumentError, 'name "host:0" goes on after a zero byte'),
    (lambda w: hoist.Budget(w.device, budget="6\0%"), hoist.InvalidArgumentError, 'value "6" goes on after a zero'),
    (lambda w: hoist.Device(b"\xff:0"), hoist.NotFoundError, r"'\\xff'"),
    (lambda w: hoist.Checkpoint(3), TypeError, "path: .*not int"),
    (lambda w: w.selves["Plan"].simulate(w.good["problem"], 3), TypeError, "trace_path: .*not int"),
    (lambda w: w.selves["Plan"].simulate(w.good["problem"], "x" * 5000), hoist.IoError, "File name too long"),
    (lambda w: w.manager.replan(problem=w.good["problem"]), hoist.InvalidArgumentError, "problem is given, but plan is None"),
    (lambda w: w.selves["DLPackView"].__dlpack__(max_version=3), TypeError, "max_version is 3, of type int"),
    (lambda w: w.selves["DLPackView"].__dlpack__(dl_device="cpu"), TypeError, "dl_device is 'cpu', of type str"),
    (lambda w: w.stream.submit_host(print, 1e308), hoist.InvalidArgumentError, "modelled_us is 1e.308 .*from 0 to 1e.12"),
    (lambda w: w.budget.set(""), hoist.InvalidArgumentError, "budget is '' .*24GiB.*60%"),
])
def test_the_argument_is_named(call, kind, says):
    world = World()
    with pytest.raises(kind, match=says):
        call(world)
    world.step()  # all is as it was


def test_a_closed_manager_says_so():
    ring = Ring("host:0?mode=inline").commit()
    step = ring.manager.step(ring.stream)
    ring.manager.close()
    ring.manager.close()
    for call in (ring.manager.query, ring.manager.commit, ring.manager.drain, ring.manager.suspend, ring.manager.plan,
                 ring.manager.replan, lambda: ring.manager.add_unit("u"), lambda: ring.manager.step(ring.stream),
                 lambda: ring.manager.read(0), lambda: ring.manager.pointer, lambda: ring.manager.timing(0)):
        with pytest.raises(hoist.InvalidStateError, match="the manager is closed"):
            call()
    with step:  # keeps what it needs
        pass


def test_scopes_that_were_not_entered(ring):
    step = ring.manager.step(ring.stream)
    with pytest.raises(hoist.OrderError, match="none is open"):
        step.__exit__(None, None, None)
    with step:
        unit = step.unit(0)
        with pytest.raises(hoist.InvalidStateError, match="unit 0 has not begun"):
            unit.__exit__(None, None, None)
    with pytest.raises(hoist.Error):
        unit.__enter__()
