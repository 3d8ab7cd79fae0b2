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


FIGURES = []  # lines that tests want read


def pytest_terminal_summary(terminalreporter):
    for line in FIGURES:
        terminalreporter.write_line(line)
