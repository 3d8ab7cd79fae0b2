# SPDX-License-Identifier: Apache-2.0
"""A step captured once under hoist.torch and replayed bare: every replay's result is the resident run's, to the bit."""

import copy
import warnings

import pytest
import torch

import hoist
import hoist.torch as ht
from hoist.torch import graphs
from host_graph import HostGraph, backend
from models import Stack, bytes_of, ids

INLINE = "host:1?mode=inline"


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


@pytest.fixture
def serve(offload):
    """An offloaded model that serves, and graphs of it, which end before it does."""
    graphs = []

    def call(model, budget="55%", placement="slots", call=None, **options):
        offload(model, budget, placement=placement, profile_steps=2, **options)
        for _ in range(ht.manager(model).steps_before_serving + 1):
            (call or model)(ids())
        return ht.manager(model)

    def make(manager):
        graphs.append((manager, HostGraph(manager)))
        return graphs[-1][1]

    call.graph = make
    yield call
    for manager, graph in graphs:
        manager.forget_graphs()
        graph.close()


def capture(graph, model, want, compiled=False):
    """Captured: the step, and a count of results that are not to the bit what is wanted."""
    different = torch.zeros((), dtype=torch.int64)
    with graph.capture(compiled):
        out = model(ids())
        with graph.eager():
            different += (out != want).any()
    different.zero_()
    return out, different


def test_replays_and_ten_plans(serve):
    model = Stack()
    want = model(ids())
    manager = serve(model)
    graph = serve.graph(manager)
    out, different = capture(graph, model, want)
    out.zero_()
    before, launches = manager.query(), 6
    for plan in range(10):
        for _ in range(launches):
            graph.replay()
        manager.budget.set_share((0.8, 0.45, 0.6)[plan % 3])
        status = manager.replan_status
        assert status.can_request and not status.reason and status.replay_generation <= (plan + 1) * launches
    graph.wait()
    assert torch.equal(out, want) and int(different) == 0
    after, replays = manager.query(), manager.native.replay_query()
    assert after.steps - before.steps == replays.begun == manager.replan_status.replay_generation == 10 * launches
    assert after.replans - before.replans == 10 and after.h2d_bytes > before.h2d_bytes
    assert replays.aborted == 0 and replays.captures == 1
    assert torch.equal(model(ids()), want)  # a step outside of the graph, behind the replays
    graph.replay()
    graph.wait()
    assert int(different) == 0


def test_a_compiled_model_in_a_graph(serve):
    model = Stack()
    want = model(ids())
    manager = serve(model)
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    assert torch.equal(compiled(ids()), want)
    graph, calls = serve.graph(manager), manager.counters()["fetches"]
    out, different = capture(graph, compiled, want, compiled=True)
    assert manager.counters()["fetches"] == calls + len(manager.units) and len(graph._kept) > 10
    for share in (0.5, 0.9, 0.6):
        out.zero_()
        for _ in range(4):
            graph.replay()
        graph.wait()
        assert torch.equal(out, want) and int(different) == 0
        manager.budget.set_share(share)


def test_replans_by_request_under_a_graph(serve):
    model = Stack()
    want = model(ids())
    manager = serve(model)
    graph = serve.graph(manager)
    _, different = capture(graph, model, want)
    graph.replay()
    for _ in range(2):  # applied within the call, nothing consumed, and asked for again
        assert manager.request_replan() == 1
        status = manager.replan_status
        assert (status.state, status.applied, status.can_request) == ("done", True, True)
        graph.replay()
    graph.wait()
    assert manager.request_replan(warm=2, measure=3) == 6 and manager.replan_status.state == "warming"
    for generation in range(1, 6):
        graph.replay()
        graph.wait()
        state = manager.update_state(replay_generation=generation).state
        assert state == manager.update_state(replay_generation=generation).state  # told twice
        assert state == ("warming" if generation < 2 else "measuring" if generation < 5 else "done")
    assert int(different) == 0


def test_changes_reach_the_replays(serve):
    model, other = Stack(), Stack()
    want = other(ids())
    manager = serve(model)
    graph = serve.graph(manager)
    out, _ = capture(graph, model, want)
    graph.replay()
    model.load_state_dict(other.state_dict())
    graph.replay()
    graph.wait()
    assert torch.equal(out, want) and bytes_of(model) == bytes_of(other)
    model.blocks[2].up.weight.mul_(2), other.blocks[2].up.weight.mul_(2)
    assert manager.refresh() > 0
    graph.replay()
    manager.suspend()  # replays that are launched wait for the memory
    out.zero_()
    graph.replay()
    assert manager.native.replay_query().state == hoist.ReplayState.HELD
    manager.resume()
    graph.wait()
    assert torch.equal(out, other(ids()))


def test_over_an_arena_plans_stay_until_the_graph_is_forgotten(serve):
    model = Stack()
    want = model(ids())
    manager = serve(model, placement="arena")
    graph = serve.graph(manager)
    with pytest.warns(UserWarning, match='offload with placement="slots"'):
        _, different = capture(graph, model, want)
    for _ in range(5):
        graph.replay()
    with pytest.raises(hoist.errors.InvalidStateError, match="addresses of the present plan"):
        manager.budget.set_share(0.9)
    with pytest.warns(UserWarning, match="no replan: .*addresses of the present plan"):
        assert manager.request_replan() == 0
    assert (manager.replan_status.state, manager.replan_status.applied) == ("failed", False)
    assert "slots" in manager.replan_status.reason and manager.replan_status.can_request
    graph.replay()
    graph.wait()
    assert int(different) == 0
    manager.forget_graphs()
    assert manager.request_replan() == 1 and torch.equal(model(ids()), want)
    assert manager.replan_status.state == "done"


def test_what_cannot_be_captured_is_refused(serve, offload):
    model = offload(Stack(), placement="slots", profile_steps=2)
    manager, want = ht.manager(model), None
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    for left in (3, 2):
        for call in (model, compiled)[:4 - left]:  # nothing compiles within a capture
            graph = HostGraph(manager)
            with pytest.raises(RuntimeError, match=f"{left} steps before the model serves"), graph.capture(call is compiled):
                call(ids())
            graph.close()
        want = compiled(ids()) if left == 3 else model(ids())
    graph = HostGraph(manager)
    model(ids())
    with torch.enable_grad():
        with pytest.raises(NotImplementedError, match="capture under torch.no_grad"), graph.capture():
            model(ids())
        model(ids())
        with torch.no_grad(), pytest.raises(RuntimeError, match="settle"), graph.capture():
            model(ids())
        manager.settle()
    graph.close()
    graph = HostGraph(manager)
    with pytest.raises(hoist.errors.OrderError, match="where the plan has"), graph.capture(), manager.step():
        model.blocks[1](torch.randn(2, 64))
    graph.close()
    assert manager.native.replay_query().captures == 0 and torch.equal(model(ids()), want)


def test_compiled_training_in_slots_and_not_in_a_graph(serve):
    plain = Stack(width=32, blocks=2)
    model = copy.deepcopy(plain)
    manager = serve(model, "80%")
    compiled = torch.compile(model, fullgraph=True)
    with torch.enable_grad():
        for each in (plain, compiled):
            each(ids()).square().mean().backward()
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(parameter.grad, plain.get_parameter(name).grad, rtol=1e-4, atol=1e-5)
        assert manager.query().last_step_h2d_bytes > 0
        for _ in range(3):  # the order with a backward is learned
            compiled(ids()).sum().backward()
        graph = HostGraph(manager)
        with pytest.raises(NotImplementedError, match="capture under torch.no_grad"), graph.capture(compiled=True):
            compiled(ids())
        graph.close()
        compiled(ids()).sum().backward()
    want = plain(ids())
    assert torch.equal(model(ids()), want)


def test_graphs_of_torchs_own(serve, offload, monkeypatch):
    """mode="reduce-overhead" on a GPU: once the model serves, in slots. Here torch makes no graphs, and it is let through."""
    model = offload(Stack(blocks=2), "80%", placement="slots")
    manager, require = ht.manager(model), graphs.require_for_trees
    require(manager)

    def on_a_gpu(manager):
        with monkeypatch.context() as patched:
            patched.setattr(manager, "device", torch.device("cuda"))
            require(manager)

    with monkeypatch.context() as patched, pytest.raises(Exception, match="serves in [0-9]+ steps only"):
        patched.setattr(graphs, "require_for_trees", on_a_gpu)
        torch.compile(model, fullgraph=True, mode="reduce-overhead")(ids())  # refused as it is lowered
    while manager.steps_before_serving:
        model(ids())
    on_a_gpu(manager)
    monkeypatch.setattr(manager, "in_slots", lambda: False)
    with pytest.raises(RuntimeError, match='offload with placement="slots"'):
        on_a_gpu(manager)


def test_an_exception_within_a_capture(serve):
    model = Stack()
    want = model(ids())
    manager = serve(model)
    graph = serve.graph(manager)
    handle = model.blocks[2].register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError), graph.capture():
        model(ids())
    handle.remove()
    graph.close()
    graph._graph = None
    assert torch.equal(model(ids()), want)
    _, different = capture(graph, model, want)
    graph.replay()
    graph.wait()
    assert int(different) == 0


def test_a_device_without_time_of_its_own_says_so(offload):
    model = offload(Stack(), device=INLINE, placement="slots")
    for _ in range(ht.manager(model).steps_before_serving + 1):
        model(ids())
    graph = HostGraph(ht.manager(model))
    with pytest.raises(hoist.errors.UnsupportedError, match="run steps outside of the capture"), graph.capture():
        model(ids())
    graph.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(ids())
