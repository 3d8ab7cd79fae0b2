# SPDX-License-Identifier: Apache-2.0
"""All on the host device, whose memory CPU tensors look at; trust mode poisons what a plan has freed."""

import os
import sys

import pytest
import torch

import hoist.torch as ht

sys.path.insert(0, os.path.dirname(__file__))
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    yield


@pytest.fixture
def offload():
    """hoist.torch.offload on the host device; what is left at the end is released."""
    made = []

    def call(model, budget="50%", **options):
        made.append(ht.offload(model, budget, device=options.pop("device", "host:0"), **options))
        return made[-1]

    yield call
    for model in made:
        if ht.manager(model) is not None:
            ht.manager(model).release()


def pytest_collection_modifyitems(items):
    if os.environ.get("HOIST_TEST_ALL"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="long: HOIST_TEST_ALL=1 runs it"))


def pytest_configure(config):
    config.addinivalue_line("markers", "long: only with HOIST_TEST_ALL=1")
