#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hoist.torch beside the resident model and other libraries in one run: eager, whole-model compiled, one CUDA graph.

    ./dev bench torch [--layers 8] [--tokens 2048,8192] [--kept 0,4] [--peers accelerate,diffusers]

The decoder of decoder.py as a module, ten steps back to back. The bound is max(resident compute of the same kind of run,
(layers - kept) * bytes of a layer / measured H2D rate), kept being a budget of so many layers and of two layers' slots.
Outputs are compared to the bit: eager with the resident run, compiled with the same compiled graph at a budget of
100 %, a CUDA graph with the steps outside of it. Then hoist's host time of a unit, on a stack so small that the
device is never waited for. Prints a table, and JSON with --json. --device host:0 runs a small stack on the host
device, for the script's own sake.
"""

import argparse
import gc
import json
import statistics
import sys
import time
from pathlib import Path

import decoder  # says so and leaves where torch is missing
import peers
import torch
from decoder import Model, layer_bytes, make_weights

import hoist.torch as ht
from hoist.torch import native

SLACK = 4 << 20  # beside a budget of slots: what is small, and rounding


def host_steps_ms(step, x, steps=10):
    step(x)
    begin = time.perf_counter()
    for _ in range(steps):
        y = step(x)
    return (time.perf_counter() - begin) * 1e3 / steps, y


def host_bytes_per_ms():
    source, target = (torch.empty(64 << 20, dtype=torch.uint8) for _ in range(2))
    return source.nbytes / host_steps_ms(lambda _: target.copy_(source), None, 3)[0]


def apart(y, want):
    return float((y.float() - want.float()).norm() / want.float().norm())


def replayed(graph, y):
    def step(_):
        graph.replay()
        return y
    return step


class Run:
    def __init__(self, options):
        self.options, self.on_gpu = options, not options.device.startswith("host")
        self.place = "cuda" if self.on_gpu else "cpu"
        self.steps_ms = decoder.ten_steps_ms if self.on_gpu else host_steps_ms
        self.rate = decoder.h2d_bytes_per_ms() if self.on_gpu else host_bytes_per_ms()
        self.tokens = [int(t) for t in options.tokens.split(",")]
        self.kept = [float(k) for k in options.kept.split(",")]
        self.rows, self.want, self.inputs, self.activations = [], {}, {}, {}
        self.weights = [{name: value.cpu() for name, value in layer.items()}
                        for layer in make_weights(options.layers, self.place)]
        for t in self.tokens:
            torch.manual_seed(1)
            self.inputs[t] = torch.randn(1, t, decoder.HIDDEN, device=self.place, dtype=torch.bfloat16)

    # --- rows ---

    def add(self, row):
        self.rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)

    def resident(self, kind, compile):
        """The whole model on the device: what a mode's outputs and times are compared with."""
        self.model = Model([{name: value.to(self.place) for name, value in layer.items()} for layer in self.weights]).eval()
        self.compute = compile(self.model)
        self.clear()
        for t, x in self.inputs.items():
            self.steps_ms(self.compute, x)
            ms, y = self.steps_ms(self.compute, x)
            self.want[kind, t] = y.clone()
            self.activations[t] = self.most(lambda x=x: self.compute(x)) if self.on_gpu else 0
            self.add({"mode": f"resident, {kind}", "tokens": t, "step_ms": ms})

    def row(self, mode, kept, t, step, want, rate_of=None):
        """One measured point, between two runs of the resident model: clocks drift."""
        x = self.inputs[t]
        before = self.steps_ms(self.compute, x)[0]
        ms, y = self.steps_ms(step, x)
        held = self.most(lambda: step(x)) - self.activations[t] if self.on_gpu else 0
        compute = (before + self.steps_ms(self.compute, x)[0]) / 2
        bound = max(compute, (self.options.layers - kept) * layer_bytes() / self.rate)
        row = {"mode": mode, "kept": kept, "tokens": t, "step_ms": ms, "bound_ms": bound, "resident_ms": compute,
               "over_bound": ms / bound, "over_resident": ms / compute, "equal": bool(torch.equal(y, want)),
               "difference": apart(y, want), "device_gb": held / 1e9}
        if rate_of is not None:
            s = rate_of.query()
            row["device_gb"] = s.arena_bytes / 1e9
            row |= {"streamed_gb": s.last_step_h2d_bytes / 1e9, "predicted_ms": s.predicted_step_us / 1e3,
                    "planner_bound_ms": s.bound_us / 1e3, "peak_gb": s.peak_bytes / 1e9, "demand_loads": s.demand_loads,
                    "mispredictions": s.mispredictions}
        self.add(row)

    def most(self, call):
        """The most bytes of torch's allocator at once in that call, over what was there at clear()."""
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - self.before

    def clear(self):
        gc.collect()
        if self.on_gpu:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            self.before = torch.cuda.memory_allocated()

    # --- hoist ---

    def budget(self, kept):
        return int((kept + 2) * layer_bytes())

    def replan(self, manager, step, t):
        """Measured anew for these inputs."""
        for _ in range(manager.request_replan(0, 8) + 2):
            step(self.inputs[t])

    def serve(self, model, step):
        manager = ht.manager(model)
        while manager.steps_before_serving:
            step(self.inputs[self.tokens[0]])
        return manager

    def offloaded(self, budget, **options):
        return ht.offload(self.fresh(), budget, device=self.options.device, **options)

    def fresh(self):
        """A model of its own on the host."""
        return Model([{name: value.clone() for name, value in layer.items()} for layer in self.weights]).eval()

    def eager(self):
        model = self.offloaded(self.budget(self.kept[0]))
        manager = self.serve(model, model)
        for kept in self.kept:
            manager.settle()
            manager.budget.set_bytes(self.budget(kept))
            for t in self.tokens:
                self.replan(manager, model, t)
                self.row("hoist, eager", kept, t, model, self.want["eager", t], manager)
        manager.release()

    def compiled(self):
        """One graph for each number of tokens; the budget changes under them."""
        model = self.offloaded("100%")
        step = whole(model)
        manager = self.serve(model, step)
        full = {}
        for t in self.tokens:
            step(self.inputs[t])
            full[t] = step(self.inputs[t]).clone()
            self.row("hoist, compiled, 100 %", self.options.layers, t, step, self.want["compiled", t], manager)
        for kept in self.kept:
            manager.settle()
            manager.budget.set_bytes(self.budget(kept))
            for t in self.tokens:
                self.replan(manager, step, t)
                self.row("hoist, compiled", kept, t, step, full[t], manager)
        manager.release()
        return full

    def graphs(self, mode, way, want):
        """Steps captured by torch.cuda.graph, and replayed bare."""
        model = self.offloaded(self.budget(self.kept[0]) + SLACK, placement="slots")
        step = way(model)
        manager, side = self.serve(model, step), torch.cuda.Stream()
        for kept in self.kept:
            manager.settle()
            manager.budget.set_bytes(self.budget(kept) + SLACK)
            for t in self.tokens:
                self.replan(manager, step, t)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, stream=side):
                    y = step(self.inputs[t])
                y.zero_()
                self.row(mode, kept, t, replayed(graph, y), want[t], manager)
                torch.cuda.synchronize()
                manager.forget_graphs()
                del graph, y
        manager.release()

    # --- others ---

    def peer(self, name, kept):
        """At their own settings; one that takes a budget gets hoist's."""
        own = {} if not name.startswith("flextensor") else {"budget_bytes": self.budget(kept)}
        if name == "flextensor compiled":
            own["compile_fn"] = lambda module: torch.compile(module, fullgraph=True, dynamic=False)
        try:
            step = peers.Peer(lambda model: peers.PEERS[name.split()[0]](model, **own), self.fresh())
            for n, t in enumerate(self.tokens):
                (step.warm_up if n == 0 else step.replan)(self.inputs[t])
                self.row(name, kept, t, step, self.want["eager", t])
            step.close()
        except Exception as error:  # whatever a stranger's library raises
            self.add({"mode": name, "failed": f"{type(error).__name__}: {error}"[:300]})
        peers.forget_flextensor()

    def peers(self):
        """At hoist's budgets where they take one: FlexTensor. With the others there is one run."""
        for name in filter(None, self.options.peers.split(",")):
            for kept in self.kept if name.startswith("flextensor") else self.kept[:1]:
                self.clear()
                self.peer(name, kept)

    def all(self):
        self.clear()
        self.resident("eager", lambda model: model)
        self.eager()
        want = {t: self.want["eager", t] for t in self.tokens}
        self.clear()
        if self.on_gpu:
            self.graphs("hoist, eager in a graph", lambda model: model, want)
        self.peers()
        del self.model, self.compute
        self.clear()
        self.resident("compiled", whole)
        want = self.compiled()
        self.clear()
        if self.on_gpu:
            self.graphs("hoist, compiled in a graph", whole, want)


def whole(model):
    return torch.compile(model, fullgraph=True, dynamic=False)


# --- host time of a unit ---


def host_us(step, x, count=160):
    """The time that the call keeps its thread, the device idle before it: mean of eight calls, median of such means. In one
    step of eight units are timed."""
    def wait():
        if x.is_cuda:
            torch.cuda.synchronize()

    times = []
    for _ in range(count):
        wait()
        begin = time.perf_counter()
        step(x)
        times.append((time.perf_counter() - begin) * 1e6)
    wait()
    return statistics.median(statistics.fmean(times[i:i + 8]) for i in range(0, count, 8))


def ops_step(manager, units):
    """The ops that a compiled graph calls for a step, and nothing else."""
    key = manager.key

    def step(x):
        token = native.step_begin(x, key)
        for unit in range(units):
            fetched = native.fetch(x, token, key, unit)
            token = native.unit_end(fetched[0], [x], key, unit)
        native.step_end([x], token, key)
    return step


def unit_cost(device, units):
    """Microseconds of host time that a unit costs beyond the same model resident, by way of running and by budget."""
    place = "cpu" if device.startswith("host") else "cuda"
    decoder.shrink(256, 512, 2, 2)
    weights = [{name: value.cpu() for name, value in layer.items()} for layer in make_weights(units, place)]
    x = torch.randn(1, 16, decoder.HIDDEN, device=place, dtype=torch.bfloat16)
    found = {}
    for kind in ("eager", "compiled"):
        torch._dynamo.reset()
        way = (lambda model: model) if kind == "eager" else whole
        resident = way(Model([{n: v.to(place) for n, v in layer.items()} for layer in weights]).eval())
        resident(x)
        model = ht.offload(Model([dict(layer) for layer in weights]).eval(), "100%", device=device)
        step, manager = way(model), ht.manager(model)
        for share in (1.0, 0.5):
            manager.settle()
            manager.budget.set_share(share)
            for _ in range(manager.steps_before_serving + 20):
                step(x)
            ours, theirs = zip(*((host_us(step, x), host_us(resident, x)) for _ in range(3)))
            if kind == "eager":
                found[f"ops alone, {share:.0%}"] = {"us_a_unit": host_us(ops_step(manager, units), x) / units,
                                                    "resident_us_a_unit": 0.0}
            found[f"{kind}, {share:.0%}"] = {
                "us_a_unit": (statistics.median(ours) - statistics.median(theirs)) / units,
                "resident_us_a_unit": statistics.median(theirs) / units,
                "loads_a_unit": manager.query().last_step_h2d_bytes / units / (layer_bytes() / 9)}
        manager.release()
    return found


def print_table(result):
    print(f"{result['machine']}, torch {result['torch']}, H2D {result['h2d_gb_s']:.1f} GB/s, {result['layers']} layers of "
          f"{result['layer_mb']:.0f} MB, ten steps back to back")
    print(f"{'mode':24} {'kept':>4} {'tokens':>6} {'step ms':>8} {'/ bound':>8} {'/ resident':>10} {'device GB':>9} {'output':>15}")
    for row in result["rows"]:
        if "failed" in row:
            print(f"{row['mode']:24} {row['failed'][:200]}")
            continue
        output = "" if "equal" not in row else "equal" if row["equal"] else f"off by {row['difference']:.1e}"
        print(f"{row['mode']:24} {row.get('kept', '-'):>4} {row['tokens']:6} {row['step_ms']:8.2f} {row.get('over_bound', 1):8.3f} "
              f"{row.get('over_resident', 1):10.3f} {row.get('device_gb', 0):9.2f} {output:>15}")
    for name, cost in result["units"].items():
        print(f"host time of a unit, {name}: {cost['us_a_unit']:.1f} us beyond the resident model's {cost['resident_us_a_unit']:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--tokens", default="2048,8192")
    parser.add_argument("--kept", default="0,2", help="layers' worth of bytes that stay, beside two slots")
    parser.add_argument("--peers", default="accelerate,diffusers,flextensor,flextensor compiled",
                        help="libraries to compare with, where they are installed")
    parser.add_argument("--device", default="cuda:0", help="host:0 runs a small stack there, without peers")
    parser.add_argument("--json", help="write the results there")
    options = parser.parse_args()
    if options.device.startswith("host"):
        decoder.shrink(256, 512, 2, 2)
        options.peers = ""
    elif not torch.cuda.is_available():
        print("torch: torch sees no GPU here, nothing was measured")
        return
    with torch.no_grad():
        run = Run(options)
        result = {"machine": torch.cuda.get_device_name() if run.on_gpu else options.device, "torch": torch.__version__,
                  "h2d_gb_s": run.rate / 1e6, "layers": options.layers, "layer_mb": layer_bytes() / 1e6}
        run.all()
        result |= {"rows": run.rows, "units": unit_cost(options.device, 16 if run.on_gpu else 3)}
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1))
    print_table(result)
    if not all(row["equal"] for row in result["rows"] if row["mode"].startswith("hoist") and "100" not in row["mode"]):
        sys.exit("outputs differ")


if __name__ == "__main__":
    main()
