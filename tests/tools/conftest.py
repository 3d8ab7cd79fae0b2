# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
from dataclasses import dataclass

import pytest


def pytest_addoption(parser):
    parser.addoption("--program", required=True, help="the hoist command, or the demo, to test")
    parser.addoption("--stand-in", required=True, help="a folder with a stand-in for the CUDA driver")
    parser.addoption("--fault", required=True, help="the library of fault.c, to preload")


@dataclass
class Ran:
    path: str
    status: int
    out: str
    err: str

    def json(self) -> dict:
        """The one JSON object of a run that went well."""
        assert self.status == 0, self.err
        assert self.err == ""
        return json.loads(self.out)

    def refused(self, status: int, *words: str) -> None:
        """Failed with this status and one line on standard error that has all these words, and printed nothing."""
        assert self.status == status, (self.status, self.out, self.err)
        assert self.err.count("\n") == 1 and self.err.endswith("\n"), self.err
        assert self.out == ""
        for word in words:
            assert word in self.err, (word, self.err)


@pytest.fixture
def program(request):
    path = request.config.getoption("--program")

    def run(*arguments, timeout: float = 300, **environment: str) -> Ran:
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                              env=os.environ | environment)
        return Ran(path, done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def fault(request):
    """The environment in which one bit of a tensor is wrong on the device, in the process's n-th manager."""
    library = request.config.getoption("--fault")
    return lambda tensor, manager: {"LD_PRELOAD": library, "FAULT_TENSOR": tensor, "FAULT_MANAGER": str(manager)}


@pytest.fixture
def stand_in(request):
    """The environment in which cuda:0 is there and its memory lies where the host may read it, but hoist does not know."""
    return {"LD_LIBRARY_PATH": request.config.getoption("--stand-in"), "CUDA_VISIBLE_DEVICES": ""}
