# SPDX-License-Identifier: Apache-2.0
"""A small ring for the tests: four units of one weight each, half of them on the device at once."""

import gc

import hoist
import numpy as np
import pytest

UNITS = range(4)
BYTES = 8192


class Ring:
    def __init__(self, device, **options):
        options = {"budget": "50%", "profile_steps": 1} | options
        self.device = hoist.Device(device)
        self.stream = hoist.Stream(self.device)
        self.budget = hoist.Budget(self.device, **options)
        self.manager = hoist.Manager(self.device, self.budget)
        self.units = [self.manager.add_unit(f"u{u}") for u in UNITS]
        self.weights = [self.manager.add_copied(unit, f"w{unit}", bytes([unit + 1]) * BYTES) for unit in self.units]

    def commit(self):
        self.manager.commit()
        return self

    def step(self, compute=None):
        """One whole step; compute(unit, view) inside each unit."""
        with self.manager.step(self.stream) as step:
            for unit in self.units:
                with step.unit(unit) as view:
                    if compute:
                        compute(unit, view)


@pytest.fixture(params=["inline", "threaded"])
def mode(request):
    return request.param


@pytest.fixture
def ring(mode):
    made = Ring(f"host:0?mode={mode}").commit()
    yield made
    made.manager.close()
    gc.collect()


@pytest.fixture
def expect_bytes():
    """Fails unless the bytes, seen on a device's thread, all have the value."""
    wrong = []

    def check(array, value):
        if not np.all(array == value):
            wrong.append((value, array[:8].tolist()))

    yield check
    assert wrong == []
