#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weight streaming in one CUDA graph: the decoder of decoder.py captured by torch.cuda.graph, replayed bare.

Needs torch with CUDA, and libhoist.so in ../lib. Tensors lie in slots. For each budget and number of tokens: ten
replays back to back over the bound, outputs compared with the resident run; then another budget under the same graph
against a graph that is captured anew. --replays N does not measure: N replays of a small stack without a wait, with
replans in between, every output compared. Prints tables, and JSON with --json.
"""

import argparse
import ctypes
import json
import sys
import threading
import time
from pathlib import Path

import decoder  # says so and leaves where torch is missing
import torch
from decoder import block, h2d_bytes_per_ms, layer_bytes, make_weights, ten_steps_ms

SLOTS = 2


def library():
    return str(Path(__file__).resolve().parent.parent / "lib" / "libhoist.so")


class Library:
    """hoist over ctypes: torch's streams wrapped, tensors as views of what a unit's begin gives."""

    class Error(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("code", ctypes.c_int), ("reserved", ctypes.c_uint32),
                    ("message", ctypes.c_char_p), ("where", ctypes.c_char_p), ("hint", ctypes.c_char_p)]

    class Options(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("budget_bytes", ctypes.c_uint64),
                    ("budget_share", ctypes.c_double), ("pinned_limit_bytes", ctypes.c_uint64),
                    ("profile_steps", ctypes.c_uint32), ("run_ahead_steps", ctypes.c_uint32),
                    ("plan_effort", ctypes.c_uint32), ("trust", ctypes.c_int), ("placement", ctypes.c_int)]

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

    def __init__(self, stack, budget_bytes, path, profile_steps=3, placement=0):
        self.c = ctypes.CDLL(path)
        self.device, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.budget, self.manager = ctypes.c_void_p(), ctypes.c_void_p()
        index = torch.cuda.current_device()
        self.call("hoist_device_open", f"cuda:{index}".encode(), ctypes.byref(self.device))
        native = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.call("hoist_stream_wrap", self.device, native, ctypes.byref(self.stream))
        options = self.Options(ctypes.sizeof(self.Options), budget_bytes, 0, 0, profile_steps, 0, 0, 0, placement)
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
            shape = decoder.SHAPES[self.names[index]]

            class Memory:
                __cuda_array_interface__ = {"shape": shape, "typestr": "<i2", "data": (data, False), "version": 2}

            found = self.cache[index, data] = torch.as_tensor(Memory(), device="cuda").view(torch.bfloat16)
        return found

    def __call__(self, x):
        self.call("hoist_step_begin", self.manager, self.stream)
        view = self.UnitView(ctypes.sizeof(self.UnitView))
        for unit in range(len(self.names) // len(decoder.SHAPES)):
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
        self.call("hoist_replan_prepare", self.manager, 8)
        for _ in range(8):
            self(x)
        torch.cuda.synchronize()
        self.call("hoist_replan_request", self.manager, None, None)
        for _ in range(3):
            self(x)

    def close(self):
        self.cache.clear()
        torch.cuda.synchronize()
        self.c.hoist_manager_destroy(self.manager)
        self.c.hoist_budget_destroy(self.budget)
        self.c.hoist_stream_destroy(self.stream)
        self.c.hoist_device_close(self.device)


class Captured(Library):
    """hoist's step in a graph of torch's."""

    class Replays(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("state", ctypes.c_int), ("placement", ctypes.c_int)] + [
            (name, ctypes.c_uint64) for name in ("captures", "begun", "ended", "aborted")] + [
            ("last_us", ctypes.c_double), ("reason", ctypes.c_char_p)]

    def __init__(self, stack, budget_bytes, path, **others):
        super().__init__(stack, budget_bytes, path, placement=SLOTS, **others)
        self.side = torch.cuda.Stream()
        self.side_handle = ctypes.c_void_p()
        self.call("hoist_stream_wrap", self.device, ctypes.c_void_p(self.side.cuda_stream),
                  ctypes.byref(self.side_handle))

    def capture(self, x):
        graph, eager = torch.cuda.CUDAGraph(), self.stream
        torch.cuda.synchronize()
        self.stream = self.side_handle
        try:
            with torch.cuda.graph(graph, stream=self.side):
                y = self(x)
        finally:
            self.stream = eager
        return graph, y

    def set_budget(self, budget_bytes):
        self.call("hoist_budget_set", self.budget, ctypes.c_uint64(budget_bytes), ctypes.c_double(0))

    def replays(self):
        status = self.Replays(ctypes.sizeof(self.Replays))
        self.call("hoist_replay_query", self.manager, ctypes.byref(status))
        return status

    def close(self):
        torch.cuda.synchronize()
        self.call("hoist_replay_release", self.manager)
        self.c.hoist_stream_destroy(self.side_handle)
        super().close()


def replayed(graph, y):
    def step(_):
        graph.replay()
        return y
    return step


def measure(options):
    rate = h2d_bytes_per_ms()
    stack = make_weights(options.layers)
    whole = layer_bytes()
    inputs, reference, rows = {}, {}, []

    def all_resident(x):
        for layer in stack:
            x = block(x, layer)
        return x

    def resident_ms(t):
        return ten_steps_ms(all_resident, inputs[t])[0]

    def row_of(what, kept, t, ms, y, compute):
        bound = max(compute, (options.layers - kept) * whole / rate)
        row = {"mode": what, "kept": kept, "tokens": t, "step_ms": ms, "bound_ms": bound, "over_bound": ms / bound,
               "resident_ms": compute, "equal": bool(torch.equal(y, reference[t]))}
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
        return row

    for t in [int(t) for t in options.tokens.split(",")]:
        torch.manual_seed(1)
        inputs[t] = torch.randn(1, t, decoder.HIDDEN, device="cuda", dtype=torch.bfloat16)
        resident_ms(t)
        reference[t] = ten_steps_ms(all_resident, inputs[t])[1].clone()
    host = [{name: value.cpu() for name, value in layer.items()} for layer in stack]
    budgets = [int(k) for k in options.kept.split(",")]
    for kept in budgets:
        step = Captured(host, (kept + 2) * whole + options.slack, library())
        for n, t in enumerate(inputs):
            (step.warm_up if n == 0 else step.replan)(inputs[t])
            if options.eager:
                before = resident_ms(t)
                ms, y = ten_steps_ms(step, inputs[t])
                row_of("slots, eager", kept, t, ms, y, (before + resident_ms(t)) / 2)
            before = resident_ms(t)
            graph, y = step.capture(inputs[t])
            y.zero_()
            ms, y = ten_steps_ms(replayed(graph, y), inputs[t])
            row = row_of("graph", kept, t, ms, y, (before + resident_ms(t)) / 2)
            s = step.status()
            row |= {"predicted_ms": s.predicted_step_us / 1e3, "budget_gb": s.budget_bytes / 1e9,
                    "arena_gb": s.arena_bytes / 1e9}
            if t == options.replan_at:
                other = budgets[(budgets.index(kept) + 1) % len(budgets)]
                begin = time.monotonic()
                step.set_budget((other + 2) * whole + options.slack)
                drained = (time.monotonic() - begin) * 1e3
                before = resident_ms(t)
                y.zero_()
                again, z = step.capture(inputs[t])
                both = [(ten_steps_ms(replayed(graph, y), inputs[t])[0], ten_steps_ms(replayed(again, z), inputs[t])[0])
                        for _ in range(3)]  # in turns: the link's rate drifts
                ms, anew = (sorted(times)[1] for times in zip(*both))
                y.zero_()
                graph.replay()
                row = row_of(f"replanned from {kept}", other, t, ms, y, (before + resident_ms(t)) / 2)
                row |= {"recaptured_ms": anew, "over_recaptured": ms / anew, "call_ms": drained}
                step.set_budget((kept + 2) * whole + options.slack)
                del again, z
            torch.cuda.synchronize()
            step.call("hoist_replay_release", step.manager)
            del graph, y
            torch.cuda.empty_cache()
        step.close()
        del step
    return {"machine": torch.cuda.get_device_name(), "torch": torch.__version__, "h2d_gb_s": rate / 1e6,
            "layers": options.layers, "layer_mb": whole / 1e6, "rows": rows}


def bare_replays(options):
    """N replays, nothing waits in between; every output is compared on the device."""
    decoder.shrink(1024, 4096, 8, decoder.KV_HEADS)
    stack = make_weights(8)
    x = torch.randn(1, 256, decoder.HIDDEN, device="cuda", dtype=torch.bfloat16)
    reference = x
    for layer in stack:
        reference = block(reference, layer)
    host = [{name: value.cpu() for name, value in layer.items()} for layer in stack]
    whole = layer_bytes()
    step = Captured(host, 4 * whole, library())
    step.warm_up(x)
    different = torch.zeros((), device="cuda", dtype=torch.int64)
    step(x)
    torch.cuda.synchronize()
    graph, eager = torch.cuda.CUDAGraph(), step.stream
    step.stream = step.side_handle
    with torch.cuda.graph(graph, stream=step.side):
        y = step(x)
        different += (y != reference).any().to(torch.int64)
    step.stream = eager
    begin = time.monotonic()
    launched = 0
    for plan in range(options.replans):
        for _ in range(options.replays // options.replans):
            graph.replay()
            launched += 1
        step.set_budget((3 + plan % 4) * whole)
    torch.cuda.synchronize()
    seconds = time.monotonic() - begin
    wrong, status = int(different), step.replays()
    print(f"{launched} bare replays with {options.replans} replans, {seconds * 1e3 / launched:.2f} ms each, "
          f"{wrong} outputs differ, {status.begun} begun, {status.ended} ended, {status.aborted} aborted")
    good = wrong == 0 and status.begun == launched and status.aborted == 0
    good = abort(step, graph, different) and good
    step.close()
    return good


def abort(step, graph, different):
    """The device refuses copies for ever; another thread lets the replay go."""
    step.call("hoist_device_set", step.device, b"fail", b"copy@3+")

    def let_go():
        time.sleep(0.5)
        step.call("hoist_replay_abort", step.manager)

    helper = threading.Thread(target=let_go)
    helper.start()
    graph.replay()  # under CUDA_LAUNCH_BLOCKING=1 it returns when it has been let go
    torch.cuda.synchronize()
    helper.join()
    step.call("hoist_device_set", step.device, b"fail", b"")
    aborted = step.replays().aborted
    graph.replay()  # brings everything back
    torch.cuda.synchronize()
    before = int(different)
    for _ in range(20):
        graph.replay()
    torch.cuda.synchronize()
    print(f"a replay without its bytes was let go ({aborted}); of 20 after it {int(different) - before} differ")
    return aborted == 1 and int(different) == before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--tokens", default="2048,4096,8192,12288,16384")
    parser.add_argument("--kept", default="0,4,8", help="layers' worth of bytes that stay, beside two slots")
    parser.add_argument("--slack", type=int, default=4 << 20, help="bytes beside, for what is small and for rounding")
    parser.add_argument("--replan-at", type=int, default=8192, help="tokens at which a replanned graph is measured too")
    parser.add_argument("--eager", action="store_true", help="measure steps outside of a graph, too")
    parser.add_argument("--replays", type=int, help="replay a small stack so often instead, and compare")
    parser.add_argument("--replans", type=int, default=10)
    parser.add_argument("--json", help="write the results there")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("graph: torch sees no GPU here, nothing was measured")
        return
    with torch.no_grad():
        if options.replays:
            sys.exit(0 if bare_replays(options) else "outputs differ")
        result = measure(options)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1))
    print(f"{result['machine']}, torch {result['torch']}, H2D {result['h2d_gb_s']:.1f} GB/s, {options.layers} layers of "
          f"{result['layer_mb']:.0f} MB, ten steps back to back")
    print(f"{'mode':18} {'kept':>4} {'tokens':>6} {'step ms':>8} {'/ bound':>8} {'equal':>6} {'/ recaptured':>12}")
    for row in result["rows"]:
        print(f"{row['mode']:18} {row['kept']:>4} {row['tokens']:6} {row['step_ms']:8.2f} {row['over_bound']:8.3f} "
              f"{str(row['equal']):>6} {row.get('over_recaptured', 0):12.3f}")
    if not all(row["equal"] for row in result["rows"]):
        sys.exit("outputs differ from the resident run")


if __name__ == "__main__":
    main()
