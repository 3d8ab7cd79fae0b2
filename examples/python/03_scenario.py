# SPDX-License-Identifier: Apache-2.0
"""A ring of six units on half of its bytes, with all that can happen to it: tests/bindings/SCENARIO.md."""

import sys

import numpy as np

import hoist

UNITS = range(1, 7)
WEIGHT, SHARED, SMALL = 65536, 32768, 16384

wrong_bytes = 0


def check(tensor, want):
    """Runs on a thread of the device: tensor is device memory."""
    global wrong_bytes
    wrong_bytes += int(np.count_nonzero(tensor != want))


def count_up(tensor):
    tensor += 1


def print_error(what, call):
    try:
        call()
    except hoist.Error as error:
        print(f"{what}: {error.name}: {error}")
    else:
        raise AssertionError(f"no error: {what}")


class Ring:
    def __init__(self, device, budget, adopted):
        self.stream = hoist.Stream(device)
        self.manager = hoist.Manager(device, budget)
        self.steps = 0  # whole ones so far: what the state's bytes must be
        add = self.manager
        self.units = {u: add.add_unit(f"u{u}") for u in UNITS}
        for u in UNITS:
            add.add_copied(self.units[u], f"u{u}.weight", bytes([u]) * WEIGHT)
        self.shared = add.add_copied(self.units[1], "u1.shared", bytes([1]) * SHARED)
        add.add_alias("u4.shared", self.shared)
        add.add_use(self.units[4], self.shared, hoist.UseMode.READ)
        add.add_adopted(self.units[2], "u2.adopted", adopted)
        rw, state = hoist.UseMode.READ_WRITE, hoist.TensorClass.STATE
        self.state = add.add_zero(self.units[6], "u6.state", SMALL, mode=rw, tensor_class=state)

    def compute(self, u, view):
        for tensor in view:
            want = {self.shared: 1, self.state: self.steps}.get(tensor.tensor, u)
            self.stream.submit_host(check, 100.0, tensor, want)
            if tensor.mode == hoist.UseMode.READ_WRITE:
                self.stream.submit_host(count_up, 100.0, tensor)

    def run_step(self, fail_at=None):
        with self.manager.step(self.stream) as step:
            for u in UNITS:
                with step.unit(self.units[u]) as view:
                    self.compute(u, view)
                    if u == fail_at:
                        raise ArithmeticError(f"u{u}")
        self.steps += 1

    def run_steps(self, count):
        for _ in range(count):
            self.run_step()
        self.stream.wait()
        print(f"{self.steps} whole steps, {wrong_bytes} wrong bytes")

    def give_a_step_up(self):
        try:
            self.run_step(fail_at=3)
        except ArithmeticError as error:
            print(f"gave a step up in {error}")

    def read_back(self):
        wanted = {f"u{u}.weight": u for u in UNITS}
        wanted |= {"u1.shared": 1, "u4.shared": 1, "u2.adopted": 2, "u6.state": self.steps}
        right = sum(bool((self.manager.read(self.manager.tensor(name)) == want).all()) for name, want in wanted.items())
        print(f"read back: {right} of {len(wanted)} names right, state {self.steps}")

    def print_sizes(self):
        s = self.manager.query()
        print(f"{s.unit_count} units, {s.tensor_count} tensors, {s.tensor_bytes} bytes, budget {s.budget_bytes}")

    def report(self):
        s = self.manager.query()
        phase = "serving" if s.phase == hoist.Phase.SERVING else "not serving"
        yes = {True: "yes", False: "no"}
        print(f"{phase}, {s.steps} steps, {s.aborted_steps} aborted, {s.mispredictions} mispredictions")
        print(
            f"bytes moved: h2d {yes[s.h2d_bytes > 0]}, d2h {yes[s.d2h_bytes > 0]}; "
            f"peak within budget: {yes[s.peak_bytes <= s.budget_bytes]}"
        )


def main():
    device = hoist.Device("host:0?mode=threaded")
    adopted = np.full(SMALL, 2, np.uint8)
    print_error("unknown option", lambda: hoist.Budget(device, bugdet="50%"))
    small = hoist.Budget(device, budget="20%", profile_steps=2)
    print_error("too small", Ring(device, small, adopted).manager.commit)

    budget = hoist.Budget(device, budget="50%", profile_steps=2)
    ring = Ring(device, budget, adopted)
    ring.manager.commit()
    ring.print_sizes()
    ring.run_steps(4)
    ring.give_a_step_up()
    ring.manager.suspend()
    ring.manager.resume()
    ring.run_steps(2)
    ring.read_back()
    budget.set_share(0.75)
    ring.run_steps(2)
    ring.print_sizes()
    print_error("too small", lambda: budget.set_share(0.2))
    ring.read_back()
    ring.report()
    ring.manager.drain()
    return wrong_bytes != 0


if __name__ == "__main__":
    sys.exit(main())
