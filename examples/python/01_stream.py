# SPDX-License-Identifier: Apache-2.0
"""The main loop: weights of eight layers stream through a budget of half their bytes, step after step."""

import sys

import numpy as np

import hoist

LAYERS, WEIGHTS, STEPS = 8, 64 * 1024, 10


def compute(weight, outputs, step):
    """Runs on a thread of the device; weight is device memory."""
    outputs[step] += weight.view(np.float32).sum(dtype=np.float64)


def main():
    weights = [np.full(WEIGHTS, layer + 1, np.float32) for layer in range(LAYERS)]
    resident = sum(weight.sum(dtype=np.float64) for weight in weights)

    device = hoist.Device("host:0")
    manager = hoist.Manager(device, hoist.Budget(device, budget="50%"))
    units = [manager.add_unit(f"layers.{layer}") for layer in range(LAYERS)]
    for unit, weight in zip(units, weights):
        manager.add_copied(unit, f"layers.{unit}", weight)  # packed into pinned memory at commit
    manager.commit()

    stream = hoist.Stream(device)
    outputs = [0.0] * STEPS
    for number in range(STEPS):
        with manager.step(stream) as step:
            for unit in units:
                with step.unit(unit) as view:  # the stream waits on the device for the layer's bytes
                    stream.submit_host(compute, 100.0, view[0], outputs, number)
                # the unit has ended: once the stream gets here, the layer's places may be refilled
    stream.wait()

    exact = all(output == resident for output in outputs)
    status = manager.query()
    within = "yes" if status.peak_bytes <= status.budget_bytes else "no"
    moved = "some" if status.last_step_h2d_bytes > 0 else "none"
    print(f"weights {status.tensor_bytes} bytes, budget {status.budget_bytes} bytes, peak within it: {within}")
    print(f"steps {status.steps}, bytes moved in the last one: {moved}")
    print(f"parity: {'exact' if exact else 'LOST'}")
    return not exact


if __name__ == "__main__":
    sys.exit(main())
