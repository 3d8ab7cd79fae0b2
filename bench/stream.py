#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weight streaming of a decoder stack on one GPU: resident, hoist and others in one run, outputs compared.

Needs torch with CUDA and the module hoist for the same Python (./dev bench stream builds it). For each number of
tokens: each mode at the same device memory, between two runs of the resident model; ten steps back to back, timed by
events around all ten. The bound is max(resident compute, streamed bytes / measured H2D rate). Then other libraries that
are installed, at their own settings. Prints a table, and JSON with --json. Fails where hoist's output is not the
resident one's to the bit.
"""

import argparse
import gc
import json
import sys
import time
from pathlib import Path

import decoder  # says so and leaves where torch is missing
import torch
from decoder import SHAPES, Model, block, h2d_bytes_per_ms, layer_bytes, make_weights, ten_steps_ms
from peers import PEERS, Peer

class Hoist:
    """hoist's Python module: torch's current stream wrapped, weights as DLPack views of what a unit's begin gives."""

    def __init__(self, stack, budget_bytes, profile_steps=3):
        import hoist

        self.phases = hoist.Phase
        self.device = hoist.Device(f"cuda:{torch.cuda.current_device()}")
        self.stream = hoist.Stream.wrap(self.device, torch.cuda.current_stream().cuda_stream)
        budget = hoist.Budget(self.device, budget=budget_bytes, profile_steps=profile_steps)
        self.manager = hoist.Manager(self.device, budget)
        for i, layer in enumerate(stack):
            unit = self.manager.add_unit(f"layers.{i}")
            for name, value in layer.items():
                self.manager.add_copied(unit, f"layers.{i}.{name}", value.view(torch.uint8).numpy())
        begin = time.monotonic()
        self.manager.commit()
        self.commit_s = time.monotonic() - begin
        self.layers = len(stack)

    def __call__(self, x):
        with self.manager.step(self.stream) as step:
            for unit in range(self.layers):
                with step.unit(unit) as view:
                    x = self.compute(x, view)
        return x

    @staticmethod
    def compute(x, view):
        """The views go with this call: they must not outlive the unit."""
        return block(x, {name: torch.from_dlpack(tensor.dlpack(torch.bfloat16, shape))
                         for (name, shape), tensor in zip(SHAPES.items(), view)})

    def warm_up(self, x):
        for _ in range(20):
            self(x)
            if self.manager.query().phase == self.phases.SERVING:
                break
        for _ in range(3):
            self(x)

    def replan(self, x):
        """Measured anew for other inputs."""
        self.manager.replan_prepare(8)
        for _ in range(8):
            self(x)
        torch.cuda.synchronize()
        self.manager.replan()
        for _ in range(3):
            self(x)

    def trace(self, x, path):
        self.manager.trace_begin(0)
        for _ in range(4):
            self(x)
        self.manager.trace_end(path)

    def facts(self, compute_ms, rate):
        """What a row says of hoist alone."""
        s = self.manager.query()
        own = max(compute_ms, s.last_step_h2d_bytes / rate)
        return {"streamed_gb": s.last_step_h2d_bytes / 1e9, "own_bound_ms": own, "predicted_ms": s.predicted_step_us / 1e3,
                "planner_bound_ms": s.bound_us / 1e3, "stall_ms": s.last_stall_us / 1e3,
                "mispredictions": s.mispredictions, "demand_loads": s.demand_loads,
                "commit_gb_s": self.layers * layer_bytes() / 1e9 / self.commit_s}

    def close(self):
        torch.cuda.synchronize()
        self.manager.close()


class DoubleBuffer:
    """What one writes by hand: `keep` whole layers resident, two slots, a copy stream; each step starts empty."""

    def __init__(self, stack, keep):
        count = len(stack)
        kept = {int((i + 0.5) * count / keep) for i in range(keep)} if keep else set()
        self.copies = torch.cuda.Stream()
        self.slots = [torch.empty(layer_bytes() // 2, device="cuda", dtype=torch.bfloat16) for _ in range(2)]
        self.ready = [torch.cuda.Event() for _ in range(2)]
        self.free = [torch.cuda.Event() for _ in range(2)]
        self.resident, self.host = {}, {}
        for i, layer in enumerate(stack):
            if i in kept:
                self.resident[i] = {name: value.cuda() for name, value in layer.items()}
            else:
                self.host[i] = torch.cat([value.flatten() for value in layer.values()]).pin_memory()
        self.count, self.order = count, [i for i in range(count) if i not in kept]
        self.views = []
        for slot in self.slots:
            offset, views = 0, {}
            for name, shape in SHAPES.items():
                size = torch.Size(shape).numel()
                views[name] = slot[offset:offset + size].view(shape)
                offset += size
            self.views.append(views)

    def load(self, j):
        with torch.cuda.stream(self.copies):
            self.copies.wait_event(self.free[j % 2])
            self.slots[j % 2].copy_(self.host[self.order[j]], non_blocking=True)
            self.ready[j % 2].record(self.copies)

    def __call__(self, x):
        stream = torch.cuda.current_stream()
        for j in range(min(2, len(self.order))):
            self.free[j].record(stream)
            self.load(j)
        j = 0
        for i in range(self.count):
            if i in self.resident:
                x = block(x, self.resident[i])
                continue
            stream.wait_event(self.ready[j % 2])
            x = block(x, self.views[j % 2])
            self.free[j % 2].record(stream)
            if j + 2 < len(self.order):
                self.load(j + 2)
            j += 1
        return x

    def warm_up(self, x):
        self(x)
        self(x)

    replan = warm_up

    def close(self):
        torch.cuda.synchronize()


class Run:
    def __init__(self, options):
        self.options = options
        self.rate = h2d_bytes_per_ms()
        self.stack = make_weights(options.layers)
        self.tokens = [int(t) for t in options.tokens.split(",")]
        self.inputs, self.reference, self.rows = {}, {}, []
        for t in self.tokens:
            torch.manual_seed(1)
            self.inputs[t] = torch.randn(1, t, decoder.HIDDEN, device="cuda", dtype=torch.bfloat16)
        for t in self.tokens:
            self.resident_ms(t)  # a cold GPU's clocks are higher than those that it keeps under load
            ms, self.reference[t] = ten_steps_ms(self.resident, self.inputs[t])
            self.add({"mode": "resident", "tokens": t, "step_ms": ms, "over_bound": 1.0, "equal": True})
        self.host = [{name: value.cpu() for name, value in layer.items()} for layer in self.stack]

    def resident(self, x):
        for layer in self.stack:
            x = block(x, layer)
        return x

    def resident_ms(self, t):
        return ten_steps_ms(self.resident, self.inputs[t])[0]

    def add(self, row):
        self.rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)

    def make(self, mode, kept):
        """At kept layers' bytes and two slots: what the hand-written one holds. Peers have no such setting."""
        if mode == "hoist":
            return Hoist(self.host, (kept + 2) * layer_bytes())
        if mode == "by hand":
            return DoubleBuffer(self.host, kept)
        return Peer(PEERS[mode], Model([dict(layer) for layer in self.host]).eval())

    def measure(self, mode, kept, tokens):
        free = torch.cuda.mem_get_info()[0]
        step, whole = self.make(mode, kept), layer_bytes()
        for n, t in enumerate(tokens):
            (step.warm_up if n == 0 else step.replan)(self.inputs[t])
            before = self.resident_ms(t)
            ms, y = ten_steps_ms(step, self.inputs[t])
            held = free - torch.cuda.mem_get_info()[0]  # activations included, the resident model apart
            compute = (before + self.resident_ms(t)) / 2  # around it: clocks drift with temperature and power
            bound = max(compute, (self.options.layers - kept) * whole / self.rate)
            difference = (y.float() - self.reference[t].float()).norm() / self.reference[t].float().norm()
            row = {"mode": mode, "kept": kept, "tokens": t, "step_ms": ms, "bound_ms": bound, "resident_ms": compute,
                   "over_bound": ms / bound, "over_resident": ms / compute,
                   "equal": bool(torch.equal(y, self.reference[t])), "difference": float(difference),
                   "device_gb": held / 1e9}
            if mode == "hoist":
                row |= step.facts(compute, self.rate)
                if self.options.trace:
                    step.trace(self.inputs[t], f"{self.options.trace}-{kept}-{t}.json")
            self.add(row)
        step.close()

    def peer(self, mode):
        """One that is not installed, or cannot do it, is a row that says so."""
        try:
            self.measure(mode, 0, [int(t) for t in self.options.peer_tokens.split(",") if int(t) in self.tokens])
        except Exception as error:  # whatever a stranger's library raises
            self.add({"mode": mode, "failed": f"{type(error).__name__}: {error}"[:300]})

    def all(self):
        for kept in [int(k) for k in self.options.kept.split(",")]:
            for mode in self.options.modes.split(","):
                self.measure(mode, kept, self.tokens)
                gc.collect()
                torch.cuda.empty_cache()
        for mode in filter(None, self.options.peers.split(",")):
            self.peer(mode)
            gc.collect()
            torch.cuda.empty_cache()
        return {"machine": torch.cuda.get_device_name(), "torch": torch.__version__, "h2d_gb_s": self.rate / 1e6,
                "layers": self.options.layers, "layer_mb": layer_bytes() / 1e6, "steps": 10, "rows": self.rows}


def print_table(result):
    print(f"{result['machine']}, torch {result['torch']}, H2D {result['h2d_gb_s']:.1f} GB/s, {result['layers']} layers of "
          f"{result['layer_mb']:.0f} MB, ten steps back to back")
    print(f"{'mode':10} {'kept':>4} {'tokens':>6} {'step ms':>8} {'/ bound':>8} {'/ resident':>10} {'device GB':>9} {'output':>15}")
    for row in result["rows"]:
        if "failed" in row:
            print(f"{row['mode']:10} {row['failed'][:90]}")
            continue
        output = "equal" if row["equal"] else f"off by {row['difference']:.1e}"
        print(f"{row['mode']:10} {row.get('kept', '-'):>4} {row['tokens']:6} {row['step_ms']:8.2f} "
              f"{row['over_bound']:8.3f} {row.get('over_resident', 1):10.3f} {row.get('device_gb', 0):9.2f} {output:>15}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--tokens", default="2048,4096,8192,12288,16384")
    parser.add_argument("--kept", default="0,4,8", help="layers' worth of bytes that stay, beside two slots")
    parser.add_argument("--modes", default="hoist,by hand")
    parser.add_argument("--peers", default=",".join(PEERS), help="libraries to compare with, where they are installed")
    parser.add_argument("--peer-tokens", default="2048,8192")
    parser.add_argument("--trace", help="write a timeline of four steps of each of hoist's runs: PREFIX-kept-tokens.json")
    parser.add_argument("--json", help="write the results there")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("stream: torch sees no GPU here, nothing was measured")
        return
    with torch.no_grad():
        result = Run(options).all()
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1))
    print_table(result)
    if not all(row["equal"] for row in result["rows"] if row["mode"] in ("hoist", "by hand")):
        sys.exit("outputs differ from the resident run")


if __name__ == "__main__":
    main()
