# SPDX-License-Identifier: Apache-2.0
"""Ordered effects as ops: kept and ordered in compiled graphs, by registration and by data, and refused out of order."""

import gc

import pytest
import torch
from torch._dynamo.utils import counters

import hoist
import hoist.torch as ht
from hoist.torch import compat, effects as module


class Logged:
    """Effects that write their names down."""

    def __init__(self, *names):
        self.log = []
        self.effects = ht.Effects("logged", device="host:0")
        self.all = [self.effects.add(name, lambda name=name: self.log.append(name)) for name in names]


def whole(function, **options):
    return torch.compile(function, fullgraph=True, **options)


@pytest.fixture
def logged():
    return Logged("gather", "evict", "store")


def here(logged):
    """A graph with three effects that give nothing."""
    def graph(x):
        for effect in logged.all:
            x = x.sin()
            effect.here(x)
        return x

    return graph


def by_token(logged):
    """The same, with tokens, begun and ended in the graph."""
    def graph(x):
        token = logged.effects.begin(x)
        for effect in logged.all:
            x = x.sin()
            token = effect(token, x)
        logged.effects.end(token)
        return x

    return graph


@pytest.mark.parametrize("compiled", [False, True])
def test_ops_that_give_nothing_run_in_order(logged, compiled):
    graph = whole(here(logged)) if compiled else here(logged)
    x = torch.ones(4)
    for _ in range(3):
        with logged.effects:
            assert torch.allclose(graph(x), x.sin().sin().sin())
    assert logged.log == ["gather", "evict", "store"] * 3
    assert logged.effects.counters() == {"is_open": 0, "runs": 3, "aborted_runs": 0, "submitted": 9, "refused": 0}


@pytest.mark.parametrize("compiled", [False, True])
def test_tokens(logged, compiled):
    graph = whole(by_token(logged)) if compiled else by_token(logged)
    for _ in range(3):
        graph(torch.ones(4))
    assert logged.log == ["gather", "evict", "store"] * 3 and logged.effects.counters()["runs"] == 3


def test_in_a_graph_that_is_trained(logged):
    x = torch.ones(4, requires_grad=True)
    graph = whole(here(logged))
    for step in range(1, 4):
        with logged.effects:
            graph(x).sum().backward()
        assert logged.log == ["gather", "evict", "store"] * step
    want = torch.autograd.grad(x.sin().sin().sin().sum(), x)[0]
    assert torch.allclose(x.grad, 3 * want)


@pytest.fixture
def unregistered():
    """The ops as they would be without their registration."""
    impure = torch.fx.node._side_effectful_functions
    kept = [op for op in module.OPS if op in impure]
    impure.difference_update(module.OPS)
    for handle in module.registrations.values():
        handle.destroy()
    yield
    impure.update(kept)
    for op in module.OPS:
        module.registrations[op] = compat.register_ordered(op)


def test_without_the_registration_they_are_dropped(logged, unregistered):
    graph = whole(here(logged))
    with pytest.raises(hoist.OrderError, match=r'effect 0 \("gather"\) of "logged" is due'):
        with logged.effects:
            graph(torch.ones(4))
    assert logged.log == [] and logged.effects.counters()["refused"] == 1


def evicting(after: bool):
    """What a graph computes of memory that an effect takes away after it has been read, as far as the graph is told."""
    held = torch.ones(64)
    effects = ht.Effects("evicting", device="host:0")
    evict = effects.add("evict", lambda: held.fill_(float("nan")))

    def graph(x):
        y = x * 2
        token = effects.begin()
        token = evict(token, y) if after else evict(token)
        effects.end(token)
        return y + 1

    with torch.no_grad():
        return whole(graph)(held)


def test_what_must_be_computed_before_is_data():
    assert torch.equal(evicting(after=True), torch.full((64,), 3.0))


def test_without_the_data_edge_it_is_computed_too_late():
    assert evicting(after=False).isnan().all()


def swapped(graph_module, inputs):
    """A compiler that exchanges the first two effects."""
    from torch._inductor.compile_fx import compile_fx

    first, second = [node for node in graph_module.graph.nodes
                     if node.target in (module.effect, module.effect_here)][:2]
    if len(first.args) == 4:  # with tokens: each in the other's place
        first.args, second.args = (*first.args[:3], second.args[3]), (*second.args[:3], first.args[3])
    else:
        second.append(first)
    graph_module.recompile()
    return compile_fx(graph_module, inputs)


def test_effects_that_were_swapped_are_refused(logged):
    with pytest.raises(hoist.OrderError, match=r'effect 1 \("evict"\).* came where effect 0 \("gather"\)'):
        whole(by_token(logged), backend=swapped)(torch.ones(4))
    logged.effects.abort()
    with pytest.raises(hoist.OrderError, match=r'effect 1 \("evict"\).* came where effect 0 \("gather"\)'):
        with logged.effects:
            whole(here(logged), backend=swapped)(torch.ones(4))
    assert logged.log == [] and logged.effects.counters()["aborted_runs"] == 2


def test_a_token_of_another_place_is_refused(logged):
    gather, evict, _ = logged.all
    with pytest.raises(hoist.OrderError, match="token"):
        token = logged.effects.begin()
        gather(token)
        evict(token)
    logged.effects.abort()
    assert logged.log == ["gather"]


def test_an_effect_that_raises():
    effects = ht.Effects("failing", device="host:0")

    def broken():
        raise ValueError("no such bytes")

    effects.add("broken", broken)
    effect = effects.add("never", lambda: None)
    assert effect.index == 1
    with pytest.raises(RuntimeError, match='effect "broken" failed: ValueError: no such bytes'):
        with effects:
            torch.ops.hoist.effect_here([], effects.key, 0)
    assert effects.counters() == {"is_open": 0, "runs": 1, "aborted_runs": 1, "submitted": 0, "refused": 0}


def test_one_graph_no_recompile(logged):
    counters.clear()
    graph = whole(by_token(logged))
    for _ in range(10):
        graph(torch.ones(4))
    assert counters["stats"]["unique_graphs"] == 1 and not counters["graph_break"]


def test_graphs_of_effects_that_are_gone():
    logged = Logged("only")
    key = logged.effects.key
    del logged
    gc.collect()  # an effect may hold what holds it
    with pytest.raises(RuntimeError, match="compile again"):
        torch.ops.hoist.effect_here([], key, 0)
