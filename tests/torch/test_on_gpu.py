# SPDX-License-Identifier: Apache-2.0
"""What the host device cannot show: torch.cuda.graph, torch's own graphs, weights that a GPU cannot read from the host.

Skipped without a GPU; the rest of hoist.torch is tested on the host device.
"""

import copy
import pathlib
import subprocess
import sys

import pytest
import torch
from torch import nn

import hoist
import hoist.torch as ht
from models import Block, Stack

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU here")


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


@pytest.fixture
def on_gpu(offload):
    return lambda model, budget="60%", **options: offload(model, budget, device="cuda", **options)


def serve(model, *inputs, call=None):
    while ht.manager(model).steps_before_serving:
        (model if call is None else call)(*inputs)
    (model if call is None else call)(*inputs)
    return ht.manager(model)


def made(where="cuda", width=1024, blocks=6):
    torch.manual_seed(0)
    with torch.device(where):
        return Stack(width=width, blocks=blocks).requires_grad_(False)


def ids(rows=2, length=8):
    return (torch.arange(rows * length).reshape(rows, length) % 50).cuda()


def captured(step):
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        step()
    return graph


@pytest.mark.parametrize("compiled", [False, True])
def test_a_graph(on_gpu, compiled):
    model = made()
    plain = model(ids())
    on_gpu(model, placement="slots")
    call = torch.compile(model, fullgraph=True) if compiled else model
    x = ids()
    with pytest.raises(RuntimeError, match="steps before the model serves"):
        captured(lambda: model(x))
    manager = serve(model, ids(), call=call)
    want = call(ids()).clone()
    torch.testing.assert_close(want, plain, rtol=1e-3, atol=1e-3)
    kept = {}
    different = torch.zeros((), dtype=torch.int64, device="cuda")

    def step():
        kept["y"] = call(x)
        different.add_((kept["y"] != want).any())

    graph = captured(step)
    for share in ("40%", "100%", "70%", "55%"):
        for _ in range(25):
            graph.replay()
        manager.set_budget(share)
    assert manager.request_replan() == 1 and manager.replan_status.state == "done"
    graph.replay()
    torch.cuda.synchronize()
    assert int(different) == 0 and manager.replan_status.replay_generation == 101
    other = made("cpu")
    torch.nn.init.normal_(other.head.weight)
    model.load_state_dict(other.state_dict())
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(kept["y"], other.cuda()(ids()), rtol=1e-2, atol=1e-2)
    manager.forget_graphs()


def test_a_parameter_that_is_read_elsewhere_in_a_graph(on_gpu):
    class Net(Stack):
        def forward(self, ids):
            return super().forward(ids) + self.blocks[1].up.weight.mean()

    torch.manual_seed(0)
    model = Net(width=512, blocks=3).requires_grad_(False)
    plain = Net(width=512, blocks=3).requires_grad_(False)
    plain.load_state_dict(model.state_dict())
    plain.cuda()
    on_gpu(model, placement="slots")
    with pytest.warns(UserWarning, match="read outside of its forward"):
        manager = serve(model, ids())
    kept, x = {}, ids()
    graph = captured(lambda: kept.update(y=model(x)))
    for changed in (model, plain):
        manager.settle()
        changed.blocks[1].up.weight.add_(1)
    manager.refresh()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(kept["y"], plain(ids()))
    manager.forget_graphs()


def test_graphs_of_torchs_own(on_gpu):
    model = made()
    on_gpu(model, placement="slots")
    with pytest.raises(Exception, match="steps only"):
        torch.compile(model, fullgraph=True, mode="reduce-overhead")(ids())
    torch._dynamo.reset()
    manager = serve(model, ids())
    plain = torch.compile(model, fullgraph=True)
    want = plain(ids()).clone()
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, mode="reduce-overhead")
    for budget in ("60%", "60%", "60%", "90%", "40%"):
        torch.compiler.cudagraph_mark_step_begin()
        assert torch.equal(compiled(ids()).clone(), want)
        manager.set_budget(budget)
    status = manager.native.replay_query()
    assert status.captures == 1 and status.begun >= 3
    torch.cuda.synchronize()
    manager.forget_graphs()


class Net(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.a, self.b = Block(width), Block(width)
        self.w, self.loose = nn.Parameter(torch.randn(width, width) / width**0.5), nn.Parameter(torch.ones(width))
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        x = x * self.loose + self.shift
        with ht.manual_unit(self, "first"):
            x = torch.tanh(self.a(x) @ self.w)
        with ht.manual_unit(self, "second"):
            return self.b(x)


@pytest.mark.parametrize("compiled", [False, True])
def test_units_by_hand(on_gpu, compiled):
    torch.manual_seed(0)
    plain = Net().cuda()
    model = Net()
    model.load_state_dict(plain.state_dict())
    x = torch.randn(4, 512, device="cuda")
    want = plain(x)
    on_gpu(model, "70%", manual=True)
    assert torch.equal(model(x), want)
    call = torch.compile(model, fullgraph=True) if compiled else model
    manager = serve(model, x, call=call)
    torch.testing.assert_close(call(x), want, rtol=1e-3, atol=1e-3)
    assert compiled or torch.equal(call(x), want)
    assert manager.query().last_step_h2d_bytes > 0 and manager.resident_bytes >= 2 * 512 * 4


def test_as_little_as_hides(on_gpu):
    model = made(width=2048, blocks=12)
    x = (torch.arange(1 << 15).reshape(8, -1) % 50).cuda()
    want = model(x)
    on_gpu(model, None)
    manager = serve(model, x)
    for _ in range(4):
        assert torch.equal(model(x), want)
    status = manager.query()
    assert status.last_step_h2d_bytes > 0 and status.budget_bytes < 0.9 * status.tensor_bytes


def test_buckets(on_gpu):
    model = made()
    few, many = ids(1, 4), ids(32, 128)
    wants = model(few), model(many)
    on_gpu(model, shape_buckets=True)
    manager = serve(model, few)
    for _ in range(2):
        for inputs, want in zip((few, many), wants):
            for _ in range(7):
                assert torch.equal(model(inputs), want)
    assert len(manager.buckets) == 2


def test_errors_and_lists(on_gpu):
    class Listed(Block):
        def forward(self, x):
            own = dict(self.named_parameters())
            return x + nn.functional.linear(x, own["up.weight"], own["up.bias"]) @ own["up.weight"]

    model = nn.Sequential(*(Listed(256) for _ in range(4))).requires_grad_(False)
    x = torch.randn(4, 256)
    want = model.cuda()(x.cuda())
    model.cpu()
    on_gpu(model)
    manager = serve(model, x.cuda())
    assert torch.equal(model(x.cuda()), want)
    manager.suspend()
    with pytest.raises(hoist.errors.InvalidStateError, match="resume"):
        model(x.cuda())
    manager.resume()
    assert torch.equal(model(x.cuda()), want)


def test_a_language_model_generates(on_gpu):
    """What transformers makes, the cache and the ids, comes to the device that the model tells."""
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4,
                                      num_key_value_heads=2, vocab_size=512)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    resident = copy.deepcopy(model).cuda()
    prompt = ids(1, 16)

    def generate(model):
        return model.generate(prompt, max_new_tokens=6, min_new_tokens=6, do_sample=False, pad_token_id=0)

    want = generate(resident)
    on_gpu(model, "50%")
    assert model.device == model.model.device == resident.device
    for _ in range(4):
        assert torch.equal(generate(model), want)
    assert ht.manager(model).steps_before_serving == 0


def test_a_context_that_breaks_in_a_replay():
    """In a process of its own: what broke it stays broken."""
    script = pathlib.Path(__file__).with_name("lost_device.py")
    done = subprocess.run([sys.executable, str(script), "cuda"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all ended" in done.stdout and "let go" in done.stderr, done.stdout + done.stderr
