# SPDX-License-Identifier: Apache-2.0
"""Units by hand: a first forward discovers what each reads; eager, compiled, captured, shared, nested, unforeseen."""

import copy

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters

import hoist
import hoist.torch as ht
from host_graph import HostGraph, backend
from models import Block, bytes_of


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


class Net(nn.Module):
    """Parts that no list of modules shows: a loose weight within a unit, one of two units, one of none."""

    def __init__(self, width=32):
        super().__init__()
        self.a, self.b, self.c = Block(width), Block(width), Block(width)
        self.shared = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.loose = nn.Parameter(torch.ones(width))
        self.never = nn.Linear(width, width)
        self.register_buffer("shift", torch.zeros(width))
        self.branch = False

    def forward(self, x):
        x = x * self.loose + self.shift
        with ht.manual_unit(self, "first"):
            x = torch.tanh(self.a(x) @ self.shared)
        with ht.manual_unit(self, "second"):
            x = self.b(x)
            if self.branch:
                x = self.never(x)
        for _ in range(2):
            with ht.manual_unit(self, "third"):
                x = self.c(x) @ self.shared
        return x


INPUT = torch.linspace(-1, 1, 96).view(3, 32)


def test_a_first_forward_discovers(offload):
    model = Net()
    before, want = bytes_of(model), model(INPUT)
    offload(model, "70%", manual=True)
    manager = ht.manager(model)
    steps = manager.steps_before_serving
    assert steps == manager.query().steps_before_serving + 1 and manager.offload_units() == []
    for left in range(steps, 0, -1):
        assert manager.steps_before_serving == left
        assert torch.equal(model(INPUT), want)
    for _ in range(3):
        assert torch.equal(model(INPUT), want)
    assert manager.offload_units() == ["first", "second", "third"]
    read = {unit.name: sorted(slot.path for slot in unit.slots) for unit in manager.units}
    assert read["first"] == sorted([*(f"a.{name}" for name, _ in model.a.named_parameters()), "shared"])
    assert "shared" in read["third"] and not any(path.startswith("never") for path in sum(read.values(), []))
    status = manager.query()
    assert status.phase == hoist.Phase.SERVING and status.last_step_h2d_bytes > 0 and status.mispredictions == 0
    assert manager.counters()["strays"] == 0 and bytes_of(model) == before
    assert {id(t) for t, _ in manager.parameters._residents} >= {id(model.loose), id(model.never.weight), id(model.shift)}
    manager.release()
    assert type(model) is Net and "_hoist_manual" not in model.a.__dict__ and torch.equal(model(INPUT), want)
    assert bytes_of(model) == before


def test_what_was_not_foreseen_stays_on_the_device(offload):
    model = Net()
    offload(model, "70%", manual=True)
    for _ in range(4):
        model(INPUT)
    plain = copy.deepcopy(model)
    plain.branch = model.branch = True
    assert type(plain) is Net and torch.equal(model(INPUT), plain(INPUT))


@pytest.mark.parametrize("backend", [pytest.param("inductor", marks=pytest.mark.long), "aot_eager"])
def test_one_graph(offload, backend):
    model = Net()
    want = model(INPUT)
    offload(model, "70%", manual=True)
    with pytest.raises(Exception, match="run it once uncompiled"):
        torch.compile(model, fullgraph=True, backend=backend)(INPUT)
    torch._dynamo.reset()
    model(INPUT)
    counters.clear()
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    first = compiled(INPUT)
    torch.testing.assert_close(first, want, rtol=1e-5, atol=1e-5)
    for _ in range(9):
        assert torch.equal(compiled(INPUT), first)
    assert counters["stats"]["unique_graphs"] == 1 and not counters["graph_break"]
    assert ht.manager(model).query().last_step_h2d_bytes > 0


def test_in_a_graph(offload):
    model = Net()
    want = model(INPUT)
    offload(model, "80%", manual=True, placement="slots", profile_steps=2)
    manager = ht.manager(model)
    manager.capturing = lambda: True  # there is nothing yet whose stream could be captured
    with pytest.raises(RuntimeError, match="manual units are known"):
        model(INPUT)
    del manager.capturing
    while manager.steps_before_serving:
        model(INPUT)
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    compiled(INPUT)
    graph = HostGraph(manager)
    with graph.capture(compiled=True):
        out = compiled(INPUT)
    for budget in ("90%", "100%", "80%"):
        out.zero_()
        for _ in range(3):
            graph.replay()
        graph.wait()
        assert torch.equal(out, want)
        manager.set_budget(budget)
    manager.forget_graphs()
    graph.close()


def test_weights_read_by_their_lists(offload):
    seen = []

    class Functional(Net):
        def forward(self, x):
            with ht.manual_unit(self, "first"):
                own = dict(self.a.named_parameters())
                seen.append(own["up.weight"].data_ptr())
                x = nn.functional.linear(x, own["up.weight"]) @ own["up.weight"]
            with ht.manual_unit(self, "second"):
                everything = dict(self.named_parameters())  # some of which are read in no unit, nor used
                return x @ self.shared if len(everything) == 22 else x

    model = Functional()
    want = model(INPUT)
    offload(model, "100%", manual=True)
    model(INPUT)
    seen.clear()
    for _ in range(3):
        assert torch.equal(model(INPUT), want)
    assert seen and not {slot.leaves[0].host.data_ptr() for slot in ht.manager(model).slots} & set(seen)
    assert not ht.manager(model).parameters.promoted


def test_exceptions_in_a_unit(offload):
    class Failing(Net):
        fail = False

        def forward(self, x):
            with ht.manual_unit(self, "only"):
                x = self.a(x)
                if self.fail:
                    raise ZeroDivisionError("mine")
            with ht.manual_unit(self, "other"):
                return self.b(x)

    model = Failing()
    want = model(INPUT)
    offload(model, "100%", manual=True)
    for fail in (True, False, True, False, False):
        model.fail = fail
        if fail:
            with pytest.raises(ZeroDivisionError, match="mine"):
                model(INPUT)
        else:
            assert torch.equal(model(INPUT), want)


@pytest.mark.parametrize("sends", [False, True])
def test_training(offload, sends):
    """From the first forward on, which discovers; a weight of two units gets the gradients of both."""
    plain = Net()
    model = copy.deepcopy(plain)
    offload(model, "70%", manual=True)
    ht.manager(model).sends_gradients = sends
    found = []
    for each in (plain, model):
        optimizer, losses = torch.optim.SGD(each.parameters(), lr=1e-3), []
        with torch.enable_grad():
            for step in range(6):
                loss = each(INPUT).square().sum()
                late = each(INPUT + 1).sum()
                loss.backward()
                late.backward()
                losses += [loss.detach(), *(p.grad.clone() for p in each.parameters() if p.grad is not None)]
                optimizer.step()
                optimizer.zero_grad()
        found.append([*losses, *each.parameters()])
    assert len(found[0]) == len(found[1]) and all(map(torch.equal, *found))
    query = ht.manager(model).query()
    assert query.last_step_h2d_bytes > 0 and query.aborted_steps == 0 and ht.manager(model).counters()["strays"] == 0


def test_refusals(offload):
    for options, text in (({"compile": True}, "compile after the first run"), ({"include": ["a"]}, "the forward says")):
        with pytest.raises(ValueError, match=text):
            ht.offload(Net(), "50%", device="host:0", manual=True, **options)
    model = offload(nn.Sequential(nn.Linear(4, 4)), "100%", manual=True)
    with pytest.raises(RuntimeError, match="reads no parameter within a unit"):
        model(torch.ones(1, 4))
    model = offload(Net(), "100%", manual=True)
    model(INPUT)
    with torch.enable_grad(), pytest.raises(Exception, match="train uncompiled"):
        torch.compile(model, fullgraph=True, backend="aot_eager")(INPUT)
    ht.manager(offload(Net(), "100%", manual=True)).release()  # before anything was discovered


def test_a_weight_that_is_kept_is_empty_after_its_block(offload):
    kept = []

    class Keeping(Net):
        def forward(self, x):
            with ht.manual_unit(self, "first"):
                weight = self.shared  # a name of the forward's own does no harm
                x = torch.tanh(self.a(x) @ weight)
                kept[:] = [self.a.up.weight]
            with ht.manual_unit(self, "second"):
                return self.b(x)

    model = Keeping()
    want = model(INPUT)
    offload(model, "70%", manual=True)
    model(INPUT)  # shows what the blocks read
    for _ in range(8):
        assert torch.equal(model(INPUT), want)
        assert kept[0].numel() == 0
        with pytest.raises(RuntimeError, match="shape|size|mat"):
            INPUT @ kept[0]
