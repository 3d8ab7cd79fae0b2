# SPDX-License-Identifier: Apache-2.0
"""Work that is captured once and launched again, and steps in it."""

import hoist
import pytest

from conftest import Ring


def test_a_graph_does_again_what_was_captured():
    device = hoist.Device("host:0?mode=threaded")
    stream, memory = hoist.Stream(device), hoist.Memory(device, 64)
    stream.submit_fill(memory, 1)
    stream.capture_begin()
    stream.submit_fill(memory, 7)
    with pytest.raises(hoist.UnsupportedError):
        stream.submit_host(print, 1.0)  # a Python function runs once
    graph = stream.capture_end()
    stream.wait()
    assert memory.array("u1")[63] == 1
    graph.launch(stream)
    stream.wait()
    assert memory.array("u1")[63] == 7


def test_captured_steps_are_replayed_under_other_plans():
    ring = Ring("host:0?mode=threaded", placement="slots").commit()
    for _ in range(4):
        ring.step()
    assert ring.manager.replay_query().state == hoist.ReplayState.NONE
    ring.stream.capture_begin()
    ring.step()
    graph = ring.stream.capture_end()
    for share in (0.5, 0.75, 0.5):
        for _ in range(10):
            graph.launch(ring.stream)
        ring.budget.set_share(share)
    ring.stream.wait()
    status = ring.manager.replay_query()
    assert (status.captures, status.begun, status.aborted, status.reason) == (1, 30, 0, "")
    assert (status.state, status.placement) == (hoist.ReplayState.OPEN, hoist.Placement.SLOTS)
    assert status.ended >= 29 and status.last_us > 0
    ring.manager.replay_abort()
    assert ring.manager.replay_query().aborted == 0
    ring.manager.replay_release()
    assert ring.manager.replay_query().state == hoist.ReplayState.NONE
    ring.manager.close()
