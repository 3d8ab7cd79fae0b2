# SPDX-License-Identifier: Apache-2.0
"""A kernel of the model's own breaks the context in the middle of a replay: calls say so, and every wait ends.

A script, since a process has its context but once: python lost_device.py cuda. On another device it steps and breaks
nothing. Prints what each call said; the exit status is 0 where all ended in time and the failure was named.
"""

import faulthandler
import sys

import torch
from models import Stack

import hoist.torch as ht

faulthandler.dump_traceback_later(60, exit=True)  # a wait without an end


def told(what, call):
    try:
        call()
    except Exception as error:
        print(f"{what}: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
        return True
    print(f"{what}: went through", flush=True)
    return False


@torch.no_grad()
def main(device):
    where = "cuda" if device.startswith("cuda") else "cpu"
    torch.manual_seed(0)
    model = Stack(width=1024).requires_grad_(False).to(where)
    x = torch.arange(16, device=where).reshape(2, 8)
    holds = torch.ones((), dtype=torch.bool, device=where)
    ht.offload(model, "60%", device=device, placement="slots")
    manager = ht.manager(model)
    while manager.steps_before_serving:
        model(x)
    if where == "cpu":
        model(x)
        manager.release()
        return 0
    model.blocks[3].register_forward_hook(lambda *_: torch._assert_async(holds))
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        model(x)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    holds.zero_()
    graph.replay()
    named = [told("synchronize", torch.cuda.synchronize), told("a step", lambda: model(x)),
             told("set_budget", lambda: manager.set_budget("50%"))]
    told("release", manager.release)
    print("all ended", flush=True)
    return 0 if named[0] and named[1] else 1


if __name__ == "__main__":
    status = main(sys.argv[1])
    sys.stdout.flush()
    if status == 0:
        faulthandler.cancel_dump_traceback_later()
    sys.exit(status)
