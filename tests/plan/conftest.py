# SPDX-License-Identifier: Apache-2.0
"""One planner for the session."""

import os

import pytest

from client import Client


@pytest.fixture(scope="session")
def planner():
    client = Client()
    yield client
    client.close()


def everything():
    return bool(os.environ.get("HOIST_TEST_ALL"))
