# SPDX-License-Identifier: Apache-2.0
"""Gradients that go to host memory by a stream of their own, as they do from a GPU: here from the host device's memory.

Trust mode fills with NaN where a gradient is to come, so that whoever reads it too early shows."""

import copy

import pytest
import torch
from torch import nn

import hoist.torch as ht
from hoist.torch import native
from models import Block, Listed, Stack, ids


class Tied(Stack):
    """One weight in two units, a unit that runs twice, a frozen part, and one that nothing reads."""

    def __init__(self):
        super().__init__(width=16, blocks=2)
        self.head.weight = self.embed.weight
        self.blocks[1].up.requires_grad_(False)
        self.blocks[1].unused = nn.Parameter(torch.ones(3))

    def forward(self, ids):
        x = self.embed(ids) * self.scale
        for block in (*self.blocks, self.blocks[0]):
            x = block(x)
        return self.head(x)


class Turned(nn.Module):
    """A weight whose gradient comes turned, one of another dtype, one that is strided."""

    def __init__(self):
        super().__init__()
        self.turned = nn.Parameter(torch.randn(16, 16).t())
        self.narrow = nn.Parameter(torch.randn(16, 16).to(torch.bfloat16))
        self.strided = nn.Parameter(torch.randn(16, 32)[:, ::2])

    def forward(self, x):
        x = torch.tanh(x @ self.turned)
        return x + ((x.bfloat16() @ self.narrow).float() @ self.strided)


def offloaded(offload, model, compiled=False, budget="70%"):
    """The model as it was and offloaded, and how each is run."""
    plain = copy.deepcopy(model)
    offload(model, budget)
    ht.manager(model).sends_gradients = True
    return [(each, torch.compile(each, fullgraph=True) if compiled else each) for each in (plain, model)]


def gradients(model):
    return {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}


def same(one, two):
    return one.keys() == two.keys() and all(
        two[k] is None if one[k] is None else torch.equal(one[k], two[k]) for k in one)


def train(model, run, x, set_to_none):
    found = []
    for step in range(3):
        for part in range(2):  # the second one is added to the first one's
            run(x + part).float().square().mean().backward()
            found.append(gradients(model))
        model.zero_grad(set_to_none=set_to_none)
    return found


def compare(pair, x, **options):
    want, got = (train(model, run, x, **options) for model, run in pair)
    assert all(map(same, want, got)), [k for a, b in zip(want, got) for k in a if not same({k: a[k]}, {k: b[k]})]


MODELS = [(Tied, ids()), (lambda: Listed(*(Turned() for _ in range(3))), torch.linspace(-1, 1, 48).reshape(3, 16))]


@pytest.fixture
def places(monkeypatch):
    """Where gradients have been sent to."""
    found, call = set(), native.send_gradient._op

    def send(*args):
        sent = call(*args)
        if type(sent) is torch.Tensor:  # else something traces
            found.add(sent.data_ptr())
        return sent

    monkeypatch.setattr(native.send_gradient, "_op", send)
    return found


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("make, x", MODELS, ids=["tied", "turned"])
def test_eager(offload, make, x, set_to_none):
    pair = offloaded(offload, make())
    compare(pair, x, set_to_none=set_to_none)
    assert native.gradients_sent(ht.manager(pair[1][0]).key) > 0


@pytest.mark.parametrize("make, x", [pytest.param(*MODELS[0], marks=pytest.mark.long), MODELS[1]], ids=["tied", "turned"])
def test_compiled(offload, places, make, x):
    """The bits are those of the same model whose gradients stay where they are computed; none is copied once more."""
    with torch._inductor.config.patch(force_disable_caches=True):  # whose keys do not know of what this test has changed
        pair = offloaded(offload, make(), compiled=True)
        offload(pair[0][0], "70%")
        compare(pair, x, set_to_none=True)
        pair[1][1](x).float().square().mean().backward()
    if make is not Tied:  # whose gradients of one weight are added up
        assert {p.grad.data_ptr() for p in pair[1][0].parameters() if p.is_contiguous()} <= places
    sent = [native.gradients_sent(ht.manager(model).key) for model, _ in pair]
    assert sent[0] == 0 and sent[1] > 0


def test_what_reads_a_gradient_finds_it(offload):
    seen = []
    for model, run in offloaded(offload, Listed(*(Block(16) for _ in range(3)))):
        log = {}
        seen.append(log)
        for name, parameter in model.named_parameters():
            parameter.register_hook(lambda g, log=log, name=name: log.update({name: g.clone()}) or 2 * g)
            parameter.register_post_accumulate_grad_hook(lambda p, log=log, name=name: log.update({name + "'s": p.grad.clone()}))
        run(torch.ones(2, 16)).sum().backward()
        log |= enumerate(torch.autograd.grad(run(torch.ones(2, 16)).sum(), list(model.parameters())))
    assert same(*seen)


def test_a_gradient_that_is_kept_stays(offload, places):
    (_, _), (model, run) = offloaded(offload, Listed(*(Block(16) for _ in range(3))))
    run(torch.ones(2, 16)).sum().backward()
    assert {p.grad.data_ptr() for p in model.parameters()} <= places  # none is copied once more
    kept, copies = [p.grad for p in model.parameters()], gradients(model)
    model.zero_grad()
    run(-torch.ones(2, 16)).sum().backward()
    assert all(map(torch.equal, kept, copies.values()))
    assert not all(map(torch.equal, kept, gradients(model).values()))


def test_sparse_gradients(offload):
    class Net(Stack):
        def __init__(self):
            super().__init__(width=16, blocks=2)
            self.embed = nn.Embedding(50, 16, sparse=True)

    found = []
    for model, run in offloaded(offload, Net()):
        run(ids()).sum().backward()
        found.append({name: p.grad.to_dense() for name, p in model.named_parameters()})
    assert same(*found)


def test_more_than_is_held_on_the_device(offload):
    """The memory of a gradient goes to what comes next only after its copy."""
    class Wide(nn.Linear):
        def forward(self, x):
            return super().forward(x).relu()

    found = []
    for model, run in offloaded(offload, Listed(*(Wide(2900, 2900) for _ in range(6)))):  # of 34 MB each
        run(torch.linspace(-1, 1, 2 * 2900).reshape(2, 2900)).sum().backward()
        found.append(gradients(model))
        model.zero_grad()
    assert same(*found)


class Penalized(nn.Module):
    """Its gradients depend on its weights."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(x)))


@pytest.mark.parametrize("sends", [True, False])
def test_gradients_of_gradients(offload, sends):
    """What the graph of a backward saves of a weight outlives the weight's unit."""
    found = []
    pairs = offloaded(offload, Listed(*(Penalized() for _ in range(4))))
    ht.manager(pairs[1][0]).sends_gradients = sends
    for model, run in pairs:
        first = torch.autograd.grad(run(torch.ones(2, 16)).square().sum(), list(model.parameters()), create_graph=True)
        sum(gradient.square().sum() for gradient in first).backward()
        found.append(gradients(model) | {str(number): each.detach() for number, each in enumerate(first)})
    assert same(*found)


class Conjugated(nn.Module):
    """Autograd saves views that are marked, not computed."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 16, dtype=torch.complex64))

    def forward(self, x):
        return x + x * self.weight.conj() + x * self.weight.conj().imag


def test_conjugated_views(offload):
    found = []
    for model, run in offloaded(offload, Listed(*(Conjugated() for _ in range(4)))):
        run(torch.linspace(-1, 1, 256).reshape(16, 16).to(torch.complex64)).abs().square().sum().backward()
        found.append(gradients(model))
    assert same(*found)


def test_anomaly_detection(offload):
    """It reads each gradient where it is computed."""
    found = []
    for model, run in offloaded(offload, Listed(*(Block(16) for _ in range(3)))):
        with pytest.warns(UserWarning, match="Anomaly"), torch.autograd.detect_anomaly():
            run(torch.ones(2, 16)).sum().backward()
        found.append(gradients(model))
    assert same(*found)


def test_a_model_goes_while_gradients_travel(offload, monkeypatch):
    """A backward that raises waits for none of them; their memory stays until they are there."""
    _, (model, run) = offloaded(offload, Listed(nn.Linear(4, 16 << 20, bias=False), nn.Linear(16 << 20, 1)), budget="100%")
    manager = ht.manager(model)

    def fail(*args):
        raise ValueError("stopped")

    monkeypatch.setattr(native, "wait_for_gradients", fail)
    with pytest.raises(ValueError, match="stopped"):
        run(torch.ones(1, 4)).sum().backward()
    manager.forget()  # as when the model is dropped, without what else goes then
    manager.released = True
