# SPDX-License-Identifier: Apache-2.0
"""Two processes under DistributedDataParallel: each streams its own copy, and gradients are those of one process that
has seen both halves of the batch."""

import subprocess
import sys
import time

import pytest
import torch
import torch.distributed as dist

import hoist.torch as ht
from models import Stack

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="torch without gloo")
STEPS = 3


def make():
    torch.manual_seed(0)
    return Stack(width=32, blocks=3)


def batch(step):
    torch.manual_seed(100 + step)
    return torch.randint(50, (4, 8))


def run(model, call, part, gradients=None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        optimizer.zero_grad()
        for half in (0, 1):  # accumulated; the first one is not sent
            last = half == 1
            with call.no_sync() if hasattr(call, "no_sync") and not last else torch.enable_grad():
                call(part(batch(2 * step + half))).square().mean().backward()
        optimizer.step()
    return {name: p.grad for name, p in model.named_parameters()} | {
        "weight of " + name: p.detach() for name, p in model.named_parameters()}


def worker(rank, folder, compiled):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    model = make()
    if rank == 1:
        with torch.no_grad():
            model.head.weight.zero_()  # brought in line by the first process's
    model = ht.offload(model, "40%", device="host:0")
    inner = torch.compile(model, fullgraph=True) if compiled else model
    wrapped = torch.nn.parallel.DistributedDataParallel(inner)
    state = run(model, wrapped, lambda rows: rows[2 * rank:2 * rank + 2])
    query, counters = ht.manager(model).query(), ht.manager(model).counters()
    assert query.last_step_h2d_bytes > 0 and query.mispredictions == 0 and counters["strays"] == 0
    torch.save(state, f"{folder}/{rank}")
    ht.manager(model).release()
    dist.destroy_process_group()


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.long)])
def test_equal_gradients_in_two_processes(tmp_path, compiled):
    command = [sys.executable, __file__, str(tmp_path), str(int(compiled))]
    files = [(tmp_path / f"errors{rank}").open("w+") for rank in (0, 1)]
    workers = [subprocess.Popen([*command, str(rank)], stderr=files[rank]) for rank in (0, 1)]
    try:
        until = time.monotonic() + 300
        while any(each.poll() is None for each in workers) and not any(each.poll() for each in workers):
            assert time.monotonic() < until, "the processes wait for each other"
            time.sleep(0.1)
    finally:
        for each in workers:
            each.kill()
        errors = [file.seek(0) or file.read() for file in files]
    assert [each.wait() for each in workers] == [0, 0], errors
    one, two = (torch.load(tmp_path / str(rank)) for rank in (0, 1))
    assert one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)
    plain = make()
    want = run(plain, plain, lambda rows: rows)
    torch.testing.assert_close(one, want, rtol=1e-3, atol=1e-5)


if __name__ == "__main__":
    torch.set_num_threads(1)
    worker(int(sys.argv[3]), sys.argv[1], sys.argv[2] == "1")
