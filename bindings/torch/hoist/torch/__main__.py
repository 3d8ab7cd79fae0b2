# SPDX-License-Identifier: Apache-2.0
"""python -m hoist.torch doctor: what hoist.torch needs of the torch that is installed, and whether it is there."""

import sys

import torch

import hoist
from hoist.torch import compat, compile, effects


def registrations() -> list[tuple[str, str]]:
    """Each thing that hoist.torch needs of torch: native, patched or missing."""
    found = []

    def look(name: str, state: str, get) -> None:
        try:
            get()
            found.append((name, state))
        except (ImportError, AttributeError) as error:
            found.append((f"{name}: {error}", "missing"))

    look("stable ABI: tensors over memory with a deleter", "native", lambda: compat.libtorch().torch_from_blob)
    look("ops without results stay in graphs", "native", lambda: torch.fx.node.has_side_effect)
    look("ordered effects", "native", lambda: effects.registrations)
    look("inductor: lowering of fetch", "patched", lambda: compat.lowerings()[torch.ops.hoist.fetch.default])
    look("inductor: pass that closes units", "patched", lambda: getattr(*compat.inductor_passes()))
    look("hoist's exceptions out of ops", "patched", lambda: torch.ops.hoist.fetch.default._op)
    look("inductor: partitioner that fetches again", "patched", lambda: getattr(*compat.inductor_partitioner()))
    look("end of a backward", "native", lambda: torch.autograd.Variable._execution_engine.queue_callback)
    look("CUDA streams", "native" if torch.cuda.is_available() else "missing", lambda: None)
    return found


def doctor() -> int:
    compile.install_lowerings()
    print(f"hoist {hoist.__version__}, torch {torch.__version__}")
    found = registrations()
    for name, state in found:
        print(f"  {state:8} {name}")
    return any(state == "missing" and "CUDA" not in name for name, state in found)


if __name__ == "__main__":
    if sys.argv[1:] != ["doctor"]:
        raise SystemExit("usage: python -m hoist.torch doctor")
    raise SystemExit(doctor())
