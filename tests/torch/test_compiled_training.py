# SPDX-License-Identifier: Apache-2.0
"""Compiled training: one graph each way, gradients that are the resident model's, and no slot kept for the backward.

Trust mode fills with NaN what a plan has freed, so that a stale read shows."""

import copy
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters
from torch.utils.checkpoint import checkpoint

import hoist.torch as ht
from hoist.torch import compat, compile as compiling, joint
from models import Stack, ids


def small():
    torch.manual_seed(0)
    return Stack(width=32, blocks=2)


def loss_of(out):
    return out.float().square().mean()


def train(run, model, steps=4, accumulate=1, inputs=ids):
    """Losses, last gradients and weights of a few steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses, gradients = [], {}
    for step in range(steps):
        torch.manual_seed(step)
        for part in range(accumulate):
            loss = loss_of(run(inputs() + part))
            loss.backward()
        losses.append(loss.detach())
        gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
        optimizer.step()
        optimizer.zero_grad()
    return losses, gradients, {name: p.detach().clone() for name, p in model.named_parameters()}


def equal(one, two):
    return all(a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a) if isinstance(a, dict)
               else all(map(torch.equal, a, b)) for a, b in zip(one, two))


def close(one, two, **tolerance):
    for a, b in zip(one, two):
        torch.testing.assert_close(a, b, **tolerance)


def compare(offload, make, budgets=("60%",), tolerance=None, compiled=False, **options):
    """What the resident model gives, and the same bits under every budget."""
    tolerance = tolerance or {"rtol": 1e-4, "atol": 1e-5}
    plain = make()
    want = train(torch.compile(plain, fullgraph=True) if compiled else plain, plain, **options)
    results = []
    for budget in budgets:
        torch._dynamo.reset()
        model = offload(make(), budget)
        counters.clear()
        results.append(train(torch.compile(model, fullgraph=True), model, **options))
        assert counters["stats"]["unique_graphs"] == 1 and not counters["graph_break"], counters
        assert ht.manager(model).query().mispredictions == 0 and ht.manager(model).counters()["strays"] == 0
    close(results[0], want, **tolerance)
    assert all(equal(result, results[0]) for result in results)
    return model


def test_ten_steps_of_one_graph(offload):
    model = compare(offload, small, ("100%", "50%"), steps=10)
    manager = ht.manager(model)
    assert manager.steps_before_serving == 0 and manager.query().last_step_h2d_bytes > 0
    steps, units = manager.counters()["steps"], len(manager.units)
    assert steps == 10 and manager.counters()["fetches"] == steps * (2 * units - 1)  # an embedding's backward reads no weight


@pytest.mark.long
def test_accumulation_under_autocast(offload):
    class Mixed(Stack):
        def forward(self, ids):
            with torch.autocast("cpu", torch.bfloat16):
                return super().forward(ids)

    def make():
        model = small()
        model.__class__ = Mixed
        return model

    compare(offload, make, accumulate=2, tolerance={"rtol": 5e-2, "atol": 2e-2})


class Hard(Stack):
    """Checkpointed blocks, one of them run twice; a tied weight; frozen parts."""

    dropout = 0.0

    def forward(self, ids):
        x = self.embed(ids) * self.scale
        for block in (*self.blocks, self.blocks[0]):
            x = nn.functional.dropout(checkpoint(block, x, use_reentrant=False), self.dropout)
        return self.head(x)


def hard(dropout=0.0):
    model = small()
    model.dropout = dropout
    model.__class__ = Hard
    model.head.weight = model.embed.weight
    model.blocks[1].requires_grad_(False)
    model.blocks[0].up.weight.requires_grad_(False)
    return model


def test_checkpoints_ties_frozen_parts_and_accumulation(offload):
    compare(offload, hard, accumulate=2)


@pytest.mark.long
def test_random_numbers(offload):
    compare(offload, lambda: hard(0.2), compiled=True)  # whose random numbers are the compiler's


class Derived(nn.Module):
    """Values of weights alone, weights among activations, a sum that is wanted again."""

    def __init__(self, width):
        super().__init__()
        self.w = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.d = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.g = nn.Parameter(torch.rand(width))

    def forward(self, x):
        w = torch.tanh(self.w + self.d.t())
        x = torch.relu((x * self.g).sin() @ w) * self.g + x
        return x @ (w * self.g)


class DerivedStack(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.parts = nn.ModuleList(Derived(16) for _ in range(4))

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


def test_what_is_made_of_weights_is_made_again(offload):
    compare(offload, DerivedStack, inputs=lambda: torch.linspace(-1, 1, 16 * 16).reshape(16, 16))


def test_a_decoder_of_transformers(offload):
    transformers = pytest.importorskip("transformers")

    class Logits(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.inner = transformers.LlamaForCausalLM(transformers.LlamaConfig(
                hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
                vocab_size=64, max_position_embeddings=32, tie_word_embeddings=True))

        def forward(self, ids):
            return self.inner(ids, labels=ids, use_cache=False).loss

    compare(offload, Logits, steps=10, inputs=lambda: ids(2, 8))


# --- what users do around it ---


def test_hooks_inputs_and_gradients_that_change(offload):
    plain = DerivedStack()
    model = offload(copy.deepcopy(plain))
    seen = {}
    for name, each in (("plain", plain), ("model", model)):
        log = seen.setdefault(name, [])
        each.parts[1].w.register_hook(lambda g, log=log: log.append(g.sum()) or 2 * g)
        each.parts[2].w.register_post_accumulate_grad_hook(lambda p, log=log: log.append(p.grad.sum()))
        each.parts[0].register_forward_hook(lambda module, args, out: out * 1.5)
        run = torch.compile(each, fullgraph=True) if each is model else each
        for frozen in (False, True):
            each.parts[1].w.requires_grad_(not frozen)
            x = torch.ones(4, 16, requires_grad=True)
            run(x).sum().backward()
            log += [x.grad, *(p.grad for p in each.parameters() if p.grad is not None)]
            each.zero_grad()
    torch.testing.assert_close(seen["model"], seen["plain"], rtol=1e-4, atol=1e-5)


def test_forwards_that_nobody_goes_back_through(offload):
    plain = DerivedStack()
    model = offload(copy.deepcopy(plain))
    run, x = torch.compile(model, fullgraph=True), torch.ones(4, 16)
    for _ in range(3):
        torch.testing.assert_close(run(x), plain(x), rtol=1e-4, atol=1e-5)
        with torch.no_grad():
            torch.testing.assert_close(run(x), plain(x), rtol=1e-4, atol=1e-5)
    assert ht.manager(model).query().last_step_h2d_bytes > 0
    out = run(x)
    want = torch.autograd.grad(plain(x).sum(), list(plain.parameters()))
    run(x)  # a forward between, whose step the backward ends
    for _ in range(2):
        close(torch.autograd.grad(out.sum(), list(model.parameters()), retain_graph=True), want, rtol=1e-4, atol=1e-5)
    run(x)
    ht.manager(model).release()  # with a step that waits for its backward
    close(torch.autograd.grad(model(x).sum(), list(model.parameters())), want)


@pytest.mark.long
def test_sizes_that_vary(offload):
    plain = DerivedStack()
    model = offload(copy.deepcopy(plain))
    run = torch.compile(model, fullgraph=True, dynamic=True)
    counters.clear()
    for rows in (3, 7, 12):
        x = torch.ones(rows, 16)
        close(torch.autograd.grad(run(x).sum(), list(model.parameters())),
              torch.autograd.grad(plain(x).sum(), list(plain.parameters())), rtol=1e-4, atol=1e-4)
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.long
def test_teacher_and_student_in_one_graph(offload):
    student, teacher = DerivedStack(), DerivedStack().requires_grad_(False)
    plain, plain_teacher = copy.deepcopy(student), copy.deepcopy(teacher)
    offload(student, "60%"), offload(teacher, "60%")

    def loss(student, teacher, x):
        return (student(x) - teacher(student(x) * 0.5)).square().mean()

    run, x = torch.compile(lambda x: loss(student, teacher, x), fullgraph=True), torch.linspace(-1, 1, 64).reshape(4, 16)
    want = torch.autograd.grad(loss(plain, plain_teacher, x), list(plain.parameters()))
    for _ in range(3):
        close(torch.autograd.grad(run(x), list(student.parameters())), want, rtol=1e-4, atol=1e-6)
    assert ht.manager(teacher).counters() == {"steps": 3, "fetches": 24, "strays": 0, "mispredicted_steps": 0}


def test_a_step_by_hand(offload):
    plain = DerivedStack()
    model = offload(copy.deepcopy(plain), "60%")
    run, x = torch.compile(model, fullgraph=True), torch.ones(4, 16)
    want = torch.autograd.grad(plain(x).sum() + plain(2 * x).sum(), list(plain.parameters()))
    for _ in range(3):
        with ht.manager(model).step():
            close(torch.autograd.grad(run(x).sum() + run(2 * x).sum(), list(model.parameters())), want, rtol=1e-4, atol=1e-4)
    assert ht.manager(model).counters()["steps"] == 3


PROGRAM = """
import sys, torch
sys.path.insert(0, {tests!r})
import hoist.torch as ht
from test_compiled_training import DerivedStack
from torch._dynamo.utils import counters
torch._functorch.config.donated_buffer = {donated}
plain, model = DerivedStack(), DerivedStack()
if {frozen}:
    model.requires_grad_(False)
ht.offload(model, "60%", device="host:0")
model.requires_grad_(True)
run, x = torch.compile(model, fullgraph=True), torch.ones(4, 16)
for _ in range(3):
    got = torch.autograd.grad(run(x).sum(), list(model.parameters()))
    torch.testing.assert_close(got, torch.autograd.grad(plain(x).sum(), list(plain.parameters())), rtol=1e-4, atol=1e-4)
print(counters["aot_autograd"]["autograd_cache_hit"], counters["inductor"]["fxgraph_cache_hit"])
"""


@pytest.mark.long
def test_the_compile_cache_of_other_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))

    def run(frozen, donated=True):
        program = PROGRAM.format(tests=__file__.rsplit("/", 1)[0], frozen=frozen, donated=donated)
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert run(False) == ["0", "0"]
    assert run(False) != ["0", "0"]  # found again, and right again
    assert run(False, donated=False) == ["0", "0"]  # whose backward may not write into what it is given
    assert run(False, donated=False) != ["0", "0"]
    assert run(True) == ["0", "0"]  # without units for its backward it is another graph


# --- what makes it right, taken away ---


@pytest.fixture
def kept_slots(monkeypatch):
    """Without the rewriting the forward keeps slots for the backward."""
    monkeypatch.setattr(joint, "fetch_again", lambda forward, backward, first: joint.plain_fetches(forward.graph))
    with torch._inductor.config.patch(force_disable_caches=True):
        yield


def test_kept_slots_are_refused(offload, kept_slots):
    model = offload(DerivedStack())
    with pytest.raises(Exception, match="used after its unit's end"):
        torch.compile(model, fullgraph=True)(torch.ones(4, 16))


@pytest.mark.long
def test_kept_slots_would_be_stale(offload, kept_slots, monkeypatch):
    """The tests above can fail: what a backward would read of kept slots is not there any more."""
    monkeypatch.setattr(compiling._Unit, "close", lambda unit: unit.end.meta.update({compiling.CLOSED: True}))
    model = offload(DerivedStack(), "40%")
    run = torch.compile(model, fullgraph=True)
    for _ in range(4):
        loss_of(run(torch.ones(4, 16))).backward()
    assert any(p.grad.isnan().any() for p in model.parameters())


def test_graphs_that_others_split_are_refused(offload):
    model = offload(DerivedStack())
    with pytest.raises(Exception, match="compile with inductor"):
        torch.compile(model, fullgraph=True, backend="aot_eager")(torch.ones(4, 16)).sum().backward()


@pytest.mark.long
def test_the_users_partitioner_is_kept(offload):
    class Mine(compat.partitioner_base()):
        calls = 0

        def __call__(self, joint, inputs, **kwargs):
            Mine.calls += 1
            return compat.partition(joint, inputs, **kwargs)

        def uuid(self):
            return None  # not cached: it is to be called

    config, name = compat.inductor_partitioner()
    with config.patch(**{name: Mine(), "force_disable_caches": True}):
        mine = getattr(config, name)
        model = offload(DerivedStack())
        loss_of(torch.compile(model, fullgraph=True)(torch.ones(4, 16))).backward()
        assert Mine.calls == 1 and all(p.grad is not None for p in model.parameters())
        ht.manager(model).release()
        assert getattr(config, name) is mine
