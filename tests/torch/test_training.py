# SPDX-License-Identifier: Apache-2.0
"""Training in eager: gradients are those of the resident model, and no slot is kept for the backward."""

import copy

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import hoist.torch as ht
from models import Stack, ids


def train(model, steps=6, accumulate=1, run=None):
    """Losses of a few steps of AdamW; the last gradients."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses, gradients = [], {}
    for step in range(steps):
        for part in range(accumulate):
            loss = (run or model)(ids(2, 6 + part)).square().mean()
            loss.backward()
        losses.append(loss.item())
        gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
        optimizer.step()
        optimizer.zero_grad()
    return losses, gradients


def compare(offload, budget="40%", change=lambda model: None, placement="arena", **options):
    torch.manual_seed(0)
    plain = Stack()
    change(plain)
    model = copy.deepcopy(plain)
    offload(model, budget, placement=placement)
    want, want_gradients = train(plain, **options)
    got, gradients = train(model, **options)
    assert got == want and gradients.keys() == want_gradients.keys()
    assert all(torch.equal(gradients[name], want_gradients[name]) for name in gradients)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), plain.parameters()))
    return model


@pytest.mark.parametrize("budget", ["100%", "40%"])
def test_equal_losses_gradients_and_weights(offload, budget):
    compare(offload, budget)


def test_in_slots(offload):
    model = compare(offload, placement="slots")
    assert ht.manager(model).query().last_step_h2d_bytes > 0  # it streams, forwards and backwards


def test_accumulation(offload):
    compare(offload, accumulate=3)


def test_frozen_parts(offload):
    def freeze(model):
        model.embed.requires_grad_(False)
        model.blocks[2].requires_grad_(False)
        model.blocks[3].up.weight.requires_grad_(False)

    compare(offload, change=freeze)


def test_tied_weights(offload):
    def tie(model):
        model.head.weight = model.embed.weight

    compare(offload, change=tie)


class Checkpointed(Stack):
    def forward(self, ids):
        x = self.embed(ids) * self.scale
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


def test_gradient_checkpointing(offload):
    def as_checkpointed(model):
        model.__class__ = Checkpointed

    compare(offload, change=as_checkpointed)


def test_autocast(offload):
    torch.manual_seed(0)
    plain = Stack()
    model = copy.deepcopy(plain)
    offload(model)
    results = []
    for each in (plain, model):
        with torch.autocast("cpu", torch.bfloat16):
            loss = each(ids()).float().square().mean()
        loss.backward()
        results.append({name: p.grad for name, p in each.named_parameters()})
    assert all(torch.equal(results[0][name], results[1][name]) for name in results[0])


def test_forwards_with_gradients_and_without(offload):
    model = Stack()
    with torch.no_grad():
        want = model(ids())
    offload(model)
    for _ in range(3):
        assert torch.equal(model(ids()), want)  # nobody calls backward
        with torch.no_grad():
            assert torch.equal(model(ids()), want)
    loss = model(ids()).sum()
    with torch.no_grad():
        assert torch.equal(model(ids()), want)
    loss.backward()
    assert model.head.weight.grad is not None
    ht.manager(model).release()


@pytest.mark.parametrize("placement, unfrozen, compiled", [("slots", False, True), ("arena", True, True), ("slots", True, False)])
def test_an_optimizer_is_seen(placement, unfrozen, compiled):
    def losses(offloaded):
        torch.manual_seed(0)
        torch._dynamo.reset()
        model = Stack().requires_grad_(not unfrozen)
        if offloaded:
            ht.offload(model, "60%", device="host:0", placement=placement)
        model.requires_grad_(True)
        run = torch.compile(model, fullgraph=True, backend="inductor") if compiled else model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        found = []
        for _ in range(3):
            loss = run(ids()).float().square().mean()
            loss.backward()
            optimizer.step(), optimizer.zero_grad()
            found.append(loss.item())
        if offloaded:
            ht.manager(model).release()
        return found

    assert losses(True) == pytest.approx(losses(False), rel=1e-5)


def test_a_backward_that_raises_leaves_no_unit_open(offload):
    model = offload(Stack())
    calls = []

    def hook(module, inputs, outputs):
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("in the backward")

    handle = model.blocks[0].register_full_backward_hook(hook)
    model(ids()).sum().backward()
    with pytest.raises(ValueError, match="in the backward"):
        model(ids()).sum().backward()
    handle.remove()
    for _ in range(8):
        model(ids()).sum().backward()
    assert ht.manager(model).counters()["strays"] == 0


def test_a_forward_without_gradients_leaves_no_step_open(offload):
    model = offload(Stack().requires_grad_(False))
    model(ids())
    assert not ht.manager(model).awaits_backward()


@pytest.mark.parametrize("grad", [False, True])
def test_a_unit_gives_no_weight_out(offload, grad):
    class Giving(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))
            self.layers[1].forward = lambda x: self.layers[1].weight.t()

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    model = offload(Giving())
    with torch.set_grad_enabled(grad), pytest.raises(RuntimeError, match='"layers.1" gives out a weight'):
        model(torch.ones(16, 16))
