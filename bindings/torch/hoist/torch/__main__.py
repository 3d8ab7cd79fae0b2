# SPDX-License-Identifier: Apache-2.0
"""python -m hoist.torch doctor: what hoist.torch needs of the torch that is installed, and whether it is there."""

import sys

import torch

import hoist
import hoist.torch
from hoist.torch import compat, compile


def doctor() -> int:
    compile.install_lowerings()
    print(f"hoist {hoist.__version__}, torch {torch.__version__}")
    found = compat.registrations()
    for name, state in found:
        print(f"  {state:8} {name}")
    return any(state == "missing" and "CUDA" not in name for name, state in found)


if __name__ == "__main__":
    if sys.argv[1:] != ["doctor"]:
        raise SystemExit("usage: python -m hoist.torch doctor")
    raise SystemExit(doctor())
