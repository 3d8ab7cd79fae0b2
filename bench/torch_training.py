# SPDX-License-Identifier: Apache-2.0
"""Compiled training under hoist.torch: gradients and times against the resident model, in one run.

    ./dev python bench/torch_training.py [--device cuda] [--layers 4] [--width 2048] [--tokens 2048] [--budget 50%]

Gradients of the streamed model are compared to the bit between budgets under one graph, with the resident model's that was
compiled alone, and in eager with the resident model's in eager, all with torch's deterministic algorithms and attention
written out: the fused one's backward adds in any order (--any-order leaves both to torch, for the times). Whether the
resident model repeats its own bits is said first.
Gradients are read at once when the backward returns, without waiting for the device, and added up over two backwards.
HOIST_TRUST=1 fills with NaN what a plan has freed and where gradients are to come, so that a read too late or too early
would show. On a GPU gradients go to host memory, where the streamed parameters are: the time that their bytes take alone,
to pinned memory in one piece, is given beside.
"""

import argparse
import copy
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.utils import counters

import hoist.torch as ht
from hoist.torch import native


class Layer(nn.Module):
    def __init__(self, width, heads=16):
        super().__init__()
        self.heads = heads
        self.qkv, self.o = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = (nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False),
                                         nn.Linear(3 * width, width, bias=False))
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)

    def forward(self, x):
        rows, tokens, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(rows, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(rows, tokens, width))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def gradients(model, run, x):
    for parameter in model.parameters():
        parameter.grad = None
    run(x).float().square().mean().backward()
    return {name: parameter.grad.to("cpu", copy=True) for name, parameter in model.named_parameters()}


def added(model, run, x, count):
    """Gradients of so many backwards, added up."""
    for parameter in model.parameters():
        parameter.grad = None
    for _ in range(count):
        run(x).float().square().mean().backward()
    return {name: parameter.grad.to("cpu", copy=True) for name, parameter in model.named_parameters()}


def milliseconds_of_gradients(bytes_in_all):
    """Of their bytes alone, from the GPU to pinned memory."""
    room = torch.empty(min(bytes_in_all, 1 << 28), dtype=torch.uint8, pin_memory=True)
    source = torch.empty_like(room, device="cuda")
    times = []
    for _ in range(4):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        room.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3 * bytes_in_all / room.numel()


def equal(one, two):
    return all(torch.equal(one[name], two[name]) for name in two)


def milliseconds(model, run, x, count):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        for parameter in model.parameters():
            parameter.grad = None
        run(x).float().square().mean().backward()
        if x.is_cuda:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return sorted(times)[count // 2] * 1e3


def difference(got, want):
    return max(((got[name].double() - want[name].double()).norm() / want[name].double().norm()).item() for name in want)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "host:0")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--budget", type=float, default=50, help="percent of the weights")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--any-order", action="store_true", help="without deterministic algorithms, with fused attention")
    parser.add_argument("--send", action="store_true", help="gradients go their way on the host device, too")
    options = parser.parse_args()
    torch.use_deterministic_algorithms(not options.any_order, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    if not options.any_order:
        for fused in (torch.backends.cuda.enable_flash_sdp, torch.backends.cuda.enable_mem_efficient_sdp,
                      torch.backends.cuda.enable_cudnn_sdp):
            fused(False)
    cuda = options.device.startswith("cuda")
    place = "cuda" if cuda else "cpu"

    torch.manual_seed(0)
    plain = Decoder(options.layers, options.width).to(torch.bfloat16)
    model = copy.deepcopy(plain)
    x = torch.randn(1, options.tokens, options.width).to(place, torch.bfloat16)
    plain = plain.to(place)
    run = torch.compile(plain, fullgraph=True)
    want = gradients(plain, run, x)
    repeats = all(difference(gradients(plain, run, x), want) == 0 for _ in range(4))
    want_eager = gradients(plain, plain, x)
    eager_repeats = all(equal(gradients(plain, plain, x), want_eager) for _ in range(2))
    want_added = added(plain, run, x, 2)
    resident_ms, eager_ms = milliseconds(plain, run, x, options.steps), milliseconds(plain, plain, x, options.steps)
    print(f"resident, compiled           {resident_ms:9.2f} ms; repeats its bits: {repeats}; eager's gradients differ by "
          f"{difference(want_eager, want):.1e}\nresident, eager              {eager_ms:9.2f} ms; repeats its bits: {eager_repeats}",
          flush=True)
    if cuda:
        size = sum(p.numel() * p.element_size() for p in plain.parameters())
        print(f"gradients to the host, alone {milliseconds_of_gradients(size):9.2f} ms; {size / 1e6:.0f} MB", flush=True)
    del plain, run

    counters.clear()
    model = ht.offload(model, "100%", device=options.device)
    ht.manager(model).sends_gradients |= options.send
    torch._inductor.config.force_disable_caches |= options.send  # a graph that is kept may be one without
    manager, run, results = ht.manager(model), torch.compile(model, fullgraph=True), []
    for share in (1.0, options.budget / 100, 1.0, options.budget / 100):
        manager.settle()
        manager.budget.set_share(share)
        while manager.steps_before_serving:
            gradients(model, run, x)
        manager.request_replan()
        mine = [gradients(model, run, x) for _ in range(3)]
        streamed_ms = milliseconds(model, run, x, options.steps)
        results += mine
        query = manager.query()
        print(f"streamed, compiled, {share:7.0%} {streamed_ms:9.2f} ms; {query.last_step_h2d_bytes / 1e6:.2f} MB loaded a step; "
              f"{query.mispredictions} units out of order; {manager.counters()['strays']} strays; gradients differ from the "
              f"first budget's by {', '.join(f'{difference(each, results[0]):.1e}' for each in mine)}", flush=True)
    two = added(model, run, x, 2)
    finite = all(g.isfinite().all() for result in (*results, two) for g in result.values())
    same = all(equal(result, results[0]) for result in results)
    print(f"gradients: the same bits under each budget: {same}; all finite: {finite}; the resident model's bits: "
          f"{equal(results[-1], want)}, they differ by {difference(results[-1], want):.1e}, those of two backwards by "
          f"{difference(two, want_added):.1e}; graphs: {counters['stats']['unique_graphs']}, breaks: "
          f"{sum(counters['graph_break'].values())}", flush=True)
    for _ in range(6):  # another order of units, for a plan of its own
        mine = gradients(model, model, x)
    manager.request_replan()
    streamed_ms = milliseconds(model, model, x, options.steps)
    same_eager = equal(gradients(model, model, x), want_eager) and equal(mine, want_eager)
    sent = native.gradients_sent(manager.key)
    print(f"streamed, eager,    {options.budget / 100:7.0%} {streamed_ms:9.2f} ms; the resident model's bits in eager: {same_eager}; "
          f"{sent} gradients sent to host memory, pinned: {cuda and all(p.grad.is_pinned() for p in model.parameters())}")
    assert finite and (same or not repeats) and (same_eager or not eager_repeats)
    assert difference(two, want_added) <= max(2 * difference(results[-1], want), 1e-2)


if __name__ == "__main__":
    main()
