# SPDX-License-Identifier: Apache-2.0
"""hoist.torch in one CUDA graph: captured once by torch.cuda.graph, replayed bare, replanned under the graph.

    ./dev python bench/torch_graphs.py [--replays 1000] [--layers 12] [--tokens 2048,8192] [--budget 40%]

First a small model: so many replays with ten replans in between, nothing waits, every result is compared on the device to
the bit; the model as it is, then compiled. Then the decoder of decoder.py: ten replays back to back over the bound.
Without a GPU a step that is called again stands for a graph, so that the script itself can be tried.
"""

import argparse
import time
import traceback

import decoder  # says so and leaves where torch is missing
import torch
from torch import nn

import hoist.torch as ht

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"


class Again:
    """Stands for a graph where there is none."""

    def __init__(self, step):
        self.replay = step


def captured(step):
    """A graph of step(), whose results stay where they are."""
    if not CUDA:
        return Again(step)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def wait():
    if CUDA:
        torch.cuda.synchronize()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.RMSNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Stack(nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def serve(model, x, budget):
    ht.offload(model, budget, placement="slots")
    manager = ht.manager(model)
    while manager.steps_before_serving:
        model(x)
    for _ in range(3):
        model(x)
    return manager


def bare_replays(name, step, want, manager, replays):
    different, kept = torch.zeros((), dtype=torch.int64, device=DEVICE), {}

    def compared():
        kept["y"] = step()
        different.add_((kept["y"] != want).any())

    graph = captured(compared)
    different.zero_()
    before = manager.query()
    begin = time.perf_counter()
    for plan in range(10):
        for _ in range(replays // 10):
            graph.replay()
        if plan % 3 == 2:
            assert manager.request_replan() == 1
        else:
            manager.set_budget(("75%", "35%", "100%", "50%")[plan % 4])
    wait()
    took = (time.perf_counter() - begin) * 1e3 / replays
    after = manager.query()
    print(f"{name}: {replays} bare replays with ten replans, {took:.2f} ms each, {int(different)} results differ; "
          f"{after.steps - before.steps} steps counted, {after.replans - before.replans} plans, "
          f"{(after.h2d_bytes - before.h2d_bytes) / 1e9:.1f} GB streamed, {manager.native.replay_query().aborted} aborted, "
          f"{manager.replan_status}", flush=True)
    return graph


def small(options):
    width, rows = (1024, 256) if CUDA else (64, 8)
    with torch.device(DEVICE):
        model = Stack(width, 16).to(torch.bfloat16).requires_grad_(False)
        x = torch.randn(rows, width, dtype=torch.bfloat16)
    want = model(x)
    manager = serve(model, x, "50%")
    graph = bare_replays("as it is", lambda: model(x), want, manager, options.replays)
    manager.set_budget("100%")
    compiled = torch.compile(model, fullgraph=True)
    full = compiled(x).clone()
    manager.set_budget("50%")
    wait()
    print(f"compiled, outside of the graph: equal to 100% {torch.equal(compiled(x), full)}", flush=True)
    other = bare_replays("compiled", lambda: compiled(x), full, manager, options.replays)
    graph.replay()
    other.replay()
    wait()
    if CUDA:
        try:
            trees(model, x, full, manager)
        except Exception:
            traceback.print_exc()
    wait()
    manager.forget_graphs()
    del graph, other
    manager.release()
    print(f"released: equal {torch.equal(model(x), want)}", flush=True)


def trees(model, x, full, manager):
    torch._dynamo.reset()
    before = manager.native.replay_query()
    compiled = torch.compile(model, fullgraph=True, mode="reduce-overhead")
    equal = []
    for step in range(12):
        torch.compiler.cudagraph_mark_step_begin()
        equal.append(torch.equal(compiled(x).clone(), full))
        if step == 8:
            manager.set_budget("75%")
    after = manager.native.replay_query()
    print(f'mode="reduce-overhead": equal {equal}, {after.captures - before.captures} captures, '
          f"{after.begun - before.begun} replays", flush=True)


def timed(options, tokens):
    model = decoder.Model(decoder.make_weights(options.layers))
    x = torch.randn(1, tokens, decoder.HIDDEN, device="cuda", dtype=torch.bfloat16)

    def milliseconds(step):
        return decoder.ten_steps_ms(step, x)[0]

    want = model(x)
    resident = milliseconds(model)
    compiled = torch.compile(model, fullgraph=True)
    resident_compiled = milliseconds(compiled)
    torch._dynamo.reset()
    rate = decoder.h2d_bytes_per_ms()
    manager = serve(model, x, options.budget)
    for name, compute in (("eager", resident), ("compiled", resident_compiled)):
        call, right = model, want
        if name == "compiled":
            call = torch.compile(model, fullgraph=True)
            right = call(x).clone()
        outside = milliseconds(call)
        moved, kept = manager.query().last_step_h2d_bytes, {}

        def step():
            kept["y"] = call(x)

        graph = captured(step)
        inside = milliseconds(lambda _: graph.replay())
        bound = max(compute, moved / rate)
        print(f"{tokens} tokens, {name}: bound {bound:.2f} ms ({moved / 1e9:.2f} GB at {rate / 1e6:.1f} GB/s, resident "
              f"{compute:.2f} ms); outside of a graph {outside:.2f} ms, {outside / bound:.3f} of it; one graph {inside:.2f} ms, "
              f"{inside / bound:.3f} of it; equal {torch.equal(kept['y'], right)}", flush=True)
        wait()
        manager.forget_graphs()
        del graph, kept
    manager.release()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replays", type=int, default=1000, help="of the small model; 0: none")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--tokens", default="2048,8192")
    parser.add_argument("--budget", default="40%")
    options = parser.parse_args()
    torch.manual_seed(0)
    with torch.no_grad():
        if options.replays:
            small(options)
        for tokens in map(int, options.tokens.split(",") if CUDA else ()):
            timed(options, tokens)


if __name__ == "__main__":
    main()
