#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weight streaming of a decoder stack on one GPU: resident, hoist and others in one run, outputs compared.

Needs torch with CUDA and libhoist.so (beside this script's build, or HOIST_LIBRARY). For each number of tokens:
each mode at the same device memory, between two runs of the resident model; ten steps back to back, timed by events
around all ten. The bound is max(resident compute, streamed bytes / measured H2D rate). Prints a table, and JSON with --json.
"""

import argparse
import ctypes
import gc
import json
import os
import sys
import time
from pathlib import Path

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(print("stream: torch is not installed, nothing was measured"))

HIDDEN, INNER, HEADS, KV_HEADS, HEAD = 5120, 17408, 40, 8, 128
SHAPES = {"n1": (HIDDEN,), "q": (HEADS * HEAD, HIDDEN), "k": (KV_HEADS * HEAD, HIDDEN), "v": (KV_HEADS * HEAD, HIDDEN),
          "o": (HIDDEN, HEADS * HEAD), "n2": (HIDDEN,), "g": (INNER, HIDDEN), "u": (INNER, HIDDEN),
          "d": (HIDDEN, INNER)}


def block(x, w):
    """One decoder layer; w holds its weights by name."""
    batch, tokens, _ = x.shape
    y = F.rms_norm(x, (HIDDEN,), w["n1"])
    heads = [F.linear(y, w[name]).view(batch, tokens, -1, HEAD).transpose(1, 2) for name in "qkv"]
    a = F.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
    x = x + F.linear(a.transpose(1, 2).reshape(batch, tokens, -1), w["o"])
    y = F.rms_norm(x, (HIDDEN,), w["n2"])
    return x + F.linear(F.silu(F.linear(y, w["g"])) * F.linear(y, w["u"]), w["d"])


def layer_bytes(names=SHAPES):
    return sum(2 * torch.Size(SHAPES[name]).numel() for name in names)


def make_weights(layers):
    generator = torch.Generator(device="cuda").manual_seed(0)
    stack = []
    for _ in range(layers):
        layer = {}
        for name, shape in SHAPES.items():
            if len(shape) == 1:
                layer[name] = torch.ones(shape, device="cuda", dtype=torch.bfloat16)
            else:
                layer[name] = 0.02 * torch.randn(shape, device="cuda", dtype=torch.bfloat16, generator=generator)
        stack.append(layer)
    return stack


class Hoist:
    """hoist over ctypes, torch's current stream wrapped, tensors as views of what a unit's begin gives."""

    name = "hoist"

    class Error(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("code", ctypes.c_int), ("reserved", ctypes.c_uint32),
                    ("message", ctypes.c_char_p), ("where", ctypes.c_char_p), ("hint", ctypes.c_char_p)]

    class Options(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("budget_bytes", ctypes.c_uint64),
                    ("budget_share", ctypes.c_double), ("pinned_limit_bytes", ctypes.c_uint64),
                    ("profile_steps", ctypes.c_uint32), ("run_ahead_steps", ctypes.c_uint32),
                    ("plan_effort", ctypes.c_uint32), ("trust", ctypes.c_int)]

    class ManagerOptions(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("budget", ctypes.c_void_p)]

    class Tensor(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("bytes", ctypes.c_uint64),
                    ("host", ctypes.c_void_p), ("flags", ctypes.c_uint32), ("mode", ctypes.c_int),
                    ("tensor_class", ctypes.c_int), ("reserved", ctypes.c_uint32), ("release", ctypes.c_void_p),
                    ("user_data", ctypes.c_void_p)]

    class View(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("tensor", ctypes.c_uint32),
                    ("mode", ctypes.c_int)]

    class UnitView(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("count", ctypes.c_size_t), ("stride", ctypes.c_size_t),
                    ("tensors", ctypes.c_void_p)]

    class Status(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("phase", ctypes.c_int), ("unit_count", ctypes.c_uint32)] + [
            (name, ctypes.c_uint64) for name in
            ("tensor_count tensor_bytes budget_bytes arena_bytes peak_bytes pinned_bytes adopted_bytes steps "
             "aborted_steps mispredictions demand_loads replans h2d_bytes d2h_bytes last_step_h2d_bytes "
             "last_step_d2h_bytes").split()] + [
            (name, ctypes.c_double) for name in "predicted_step_us bound_us last_step_us last_stall_us".split()]

    SERVING = 3
    COPY = 1

    def __init__(self, stack, budget_bytes, path, profile_steps=3):
        self.c = ctypes.CDLL(path)
        self.device, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.budget, self.manager = ctypes.c_void_p(), ctypes.c_void_p()
        index = torch.cuda.current_device()
        self.call("hoist_device_open", f"cuda:{index}".encode(), ctypes.byref(self.device))
        native = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.call("hoist_stream_wrap", self.device, native, ctypes.byref(self.stream))
        options = self.Options(ctypes.sizeof(self.Options), budget_bytes, 0, 0, profile_steps, 0, 0, 0)
        self.call("hoist_budget_create", self.device, ctypes.byref(options), ctypes.byref(self.budget))
        managing = self.ManagerOptions(ctypes.sizeof(self.ManagerOptions), self.budget.value)
        self.call("hoist_manager_create", self.device, ctypes.byref(managing), ctypes.byref(self.manager))
        self.names, self.cache = [], {}
        for i, layer in enumerate(stack):
            self.add_layer(i, layer)
        begin = time.monotonic()
        self.call("hoist_manager_commit", self.manager)
        self.commit_s = time.monotonic() - begin

    def call(self, name, *arguments):
        function = getattr(self.c, name)
        function.restype = ctypes.c_int
        code = function(*arguments)
        if code != 0:
            error = self.Error(ctypes.sizeof(self.Error))
            self.c.hoist_last_error(ctypes.byref(error))
            raise RuntimeError(f"{name}: {error.message.decode()}; {error.hint.decode()}")

    def add_layer(self, i, layer):
        unit = ctypes.c_uint32()
        self.call("hoist_manager_add_unit", self.manager, f"layers.{i}".encode(), ctypes.byref(unit))
        for name, value in layer.items():
            tensor = ctypes.c_uint32()
            wanted = self.Tensor(ctypes.sizeof(self.Tensor), f"layers.{i}.{name}".encode(), value.nbytes,
                                 value.data_ptr(), self.COPY, 0, 0, 0, None, None)
            self.call("hoist_manager_add_tensor", self.manager, unit, ctypes.byref(wanted), ctypes.byref(tensor))
            self.names.append(name)

    def tensor(self, index, data):
        """A torch view of device memory; an address stays a tensor's within a plan."""
        found = self.cache.get((index, data))
        if found is None:
            shape = SHAPES[self.names[index]]

            class Memory:
                __cuda_array_interface__ = {"shape": shape, "typestr": "<i2", "data": (data, False), "version": 2}

            found = self.cache[index, data] = torch.as_tensor(Memory(), device="cuda").view(torch.bfloat16)
        return found

    def __call__(self, x):
        self.call("hoist_step_begin", self.manager, self.stream)
        view = self.UnitView(ctypes.sizeof(self.UnitView))
        for unit in range(len(self.names) // len(SHAPES)):
            self.call("hoist_unit_begin", self.manager, ctypes.c_uint32(unit), self.stream, ctypes.byref(view))
            tensors = (self.View * view.count).from_address(view.tensors)
            x = block(x, {self.names[t.tensor]: self.tensor(t.tensor, t.data) for t in tensors})
            self.call("hoist_unit_end", self.manager, ctypes.c_uint32(unit), self.stream)
        self.call("hoist_step_end", self.manager, self.stream)
        return x

    def status(self):
        status = self.Status(ctypes.sizeof(self.Status))
        self.call("hoist_manager_query", self.manager, ctypes.byref(status))
        return status

    def warm_up(self, x):
        for _ in range(20):
            self(x)
            if self.status().phase == self.SERVING:
                break
        for _ in range(3):
            self(x)

    def replan(self, x):
        """Measured anew for other inputs."""
        for _ in range(8):
            self(x)
        torch.cuda.synchronize()
        self.call("hoist_replan_request", self.manager, None, None)
        for _ in range(3):
            self(x)

    def trace(self, x, path):
        self.call("hoist_trace_begin", self.manager, ctypes.c_uint64(0))
        for _ in range(4):
            self(x)
        self.call("hoist_trace_end", self.manager, str(path).encode())

    def close(self):
        self.cache.clear()
        torch.cuda.synchronize()
        self.c.hoist_manager_destroy(self.manager)
        self.c.hoist_budget_destroy(self.budget)
        self.c.hoist_stream_destroy(self.stream)
        self.c.hoist_device_close(self.device)


class DoubleBuffer:
    """What one writes by hand: `keep` whole layers resident, two slots, a copy stream; each step starts empty."""

    name = "by hand"

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


def ten_steps_ms(step, x, steps=10):
    """The mean step of ten back to back, by events around all of them, amid steps: what was copied ahead is no gift."""
    torch.cuda.synchronize()
    for _ in range(2):
        step(x)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(steps):
        y = step(x)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / steps, y


def h2d_bytes_per_ms():
    """As `links_bench` does: the best of five copies of 1 GiB."""
    host = torch.empty(1 << 30, dtype=torch.uint8, pin_memory=True)
    device = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    best = min(ten_steps_ms(lambda _: device.copy_(host, non_blocking=True), None, 1)[0] for _ in range(5))
    return host.nbytes / best


def library():
    given = os.environ.get("HOIST_LIBRARY")
    return given or str(Path(__file__).resolve().parent.parent / "lib" / "libhoist.so")


def run(options):
    rate = h2d_bytes_per_ms()
    stack = make_weights(options.layers)
    tokens = [int(t) for t in options.tokens.split(",")]
    inputs, resident, reference, rows = {}, {}, {}, []
    for t in tokens:
        torch.manual_seed(1)
        inputs[t] = torch.randn(1, t, HIDDEN, device="cuda", dtype=torch.bfloat16)

    def all_resident(x):
        for layer in stack:
            x = block(x, layer)
        return x

    def resident_ms(t):
        return ten_steps_ms(all_resident, inputs[t])[0]

    for t in tokens:
        resident_ms(t)  # a cold GPU's clocks are higher than those that it keeps under load
        resident[t], reference[t] = ten_steps_ms(all_resident, inputs[t])
        rows.append({"mode": "resident", "tokens": t, "step_ms": resident[t], "over_bound": 1.0, "equal": True})
    host = [{name: value.cpu() for name, value in layer.items()} for layer in stack]
    whole = layer_bytes()
    for kept in [int(k) for k in options.kept.split(",")]:
        budget = (kept + 2) * whole  # what the hand-written one holds: the kept layers and two slots
        modes = {"hoist": lambda: Hoist(host, budget, library()), "by hand": lambda: DoubleBuffer(host, kept)}
        for mode in options.modes.split(","):
            step = modes[mode]()
            for n, t in enumerate(tokens):
                (step.warm_up if n == 0 else step.replan)(inputs[t])
                before = resident_ms(t)
                ms, y = ten_steps_ms(step, inputs[t])
                compute = (before + resident_ms(t)) / 2  # around it: clocks drift with temperature and power
                bound = max(compute, (options.layers - kept) * whole / rate)
                row = {"mode": mode, "kept": kept, "tokens": t, "step_ms": ms, "bound_ms": bound,
                       "resident_ms": compute, "over_bound": ms / bound, "over_resident": ms / compute,
                       "equal": bool(torch.equal(y, reference[t]))}
                if mode == "hoist":
                    s = step.status()
                    own = max(compute, s.last_step_h2d_bytes / rate)
                    row |= {"budget_gb": budget / 1e9, "streamed_gb": s.last_step_h2d_bytes / 1e9,
                            "over_own_bound": ms / own, "predicted_ms": s.predicted_step_us / 1e3,
                            "planner_bound_ms": s.bound_us / 1e3, "stall_ms": s.last_stall_us / 1e3,
                            "mispredictions": s.mispredictions, "demand_loads": s.demand_loads,
                            "commit_gb_s": sum(v.nbytes for layer in host for v in layer.values()) / 1e9 / step.commit_s}
                    if options.trace:
                        step.trace(inputs[t], f"{options.trace}-{kept}-{t}.json")
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
            step.close()
            del step
            gc.collect()
            torch.cuda.empty_cache()
    return {"machine": torch.cuda.get_device_name(), "torch": torch.__version__, "h2d_gb_s": rate / 1e6,
            "layers": options.layers, "layer_mb": whole / 1e6, "steps": 10, "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--tokens", default="2048,4096,8192,12288,16384")
    parser.add_argument("--kept", default="0,4,8", help="layers' worth of bytes that stay, beside two slots")
    parser.add_argument("--modes", default="hoist,by hand")
    parser.add_argument("--trace", help="write a timeline of four steps of each of hoist's runs: PREFIX-kept-tokens.json")
    parser.add_argument("--json", help="write the results there")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("stream: torch sees no GPU here, nothing was measured")
        return
    with torch.no_grad():
        result = run(options)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1))
    print(f"{result['machine']}, torch {result['torch']}, H2D {result['h2d_gb_s']:.1f} GB/s, {options.layers} layers of "
          f"{result['layer_mb']:.0f} MB, ten steps back to back")
    print(f"{'mode':10} {'kept':>4} {'tokens':>6} {'step ms':>8} {'/ bound':>8} {'/ resident':>10} {'equal':>6}")
    for row in result["rows"]:
        print(f"{row['mode']:10} {row.get('kept', '-'):>4} {row['tokens']:6} {row['step_ms']:8.2f} "
              f"{row['over_bound']:8.3f} {row.get('over_resident', 1):10.3f} {str(row['equal']):>6}")
    if not all(row["equal"] for row in result["rows"]):
        sys.exit("outputs differ from the resident run")


if __name__ == "__main__":
    main()
