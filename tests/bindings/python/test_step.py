# SPDX-License-Identifier: Apache-2.0
import gc

import hoist
import numpy as np
import pytest

from conftest import BYTES, Ring


def test_units_see_their_bytes(ring, expect_bytes):
    for _ in range(5):
        ring.step(lambda unit, view: ring.stream.submit_host(expect_bytes, 10.0, view[0], unit + 1))
    ring.stream.wait()
    status = ring.manager.query()
    assert (status.steps, status.aborted_steps, status.mispredictions) == (5, 0, 0)
    assert status.phase == hoist.Phase.SERVING
    assert status.last_step_h2d_bytes > 0


def test_an_exception_gives_the_step_up(ring):
    with pytest.raises(ZeroDivisionError):
        ring.step(lambda unit, view: 1 / (2 - unit))
    assert ring.manager.query().aborted_steps == 1
    ring.step()
    assert ring.manager.query().steps == 2


def test_ending_a_step_with_a_unit_open_is_an_error_that_gives_it_up(ring):
    with pytest.raises(hoist.OrderError):
        with ring.manager.step(ring.stream) as step:
            step.unit(0).__enter__()
    assert ring.manager.query().aborted_steps == 1
    ring.step()


def test_a_second_unit_in_a_unit_is_refused(ring):
    with pytest.raises(hoist.OrderError):
        with ring.manager.step(ring.stream) as step, step.unit(0), step.unit(1):
            pass
    ring.step()


def test_views_end_with_their_unit(ring):
    kept = []
    ring.step(lambda unit, view: kept.extend((view, view[0])))
    for use in (lambda: kept[1].pointer, lambda: kept[1].memory(), lambda: kept[0][0], lambda: len(kept[0])):
        with pytest.raises(hoist.StaleError, match="ended"):
            use()
    with pytest.raises(hoist.StaleError):
        ring.stream.submit_host(print, 1.0, kept[1])


def test_memory_of_a_view_is_taken_back(ring):
    with ring.manager.step(ring.stream) as step, step.unit(2) as view:
        ring.stream.wait()
        memory = view[0].memory()
        assert memory.readonly and bytes(memory) == b"\3" * BYTES
    with pytest.raises(ValueError, match="released"):
        memory[0]


def test_an_array_that_outlives_its_unit_is_an_error_until_it_is_dropped(ring):
    with pytest.raises(BufferError, match="tensor 1"):
        with ring.manager.step(ring.stream) as step, step.unit(1) as view:
            array = view[0].array("uint8")
    assert ring.manager.query().aborted_steps == 1
    for refused in (ring.step, ring.manager.suspend, ring.manager.close):
        with pytest.raises(BufferError, match="still alive"):
            refused()
    del array
    ring.step()


def test_arrays_are_writable_where_the_unit_writes(mode):
    ring = Ring(f"host:0?mode={mode}")
    state = ring.manager.add_zero(ring.units[3], "state", BYTES, mode=hoist.UseMode.READ_WRITE)
    ring.commit()
    seen = []

    def count_up(array, weight):
        seen.append((array.flags.writeable, weight.flags.writeable))
        array += 1

    def compute(unit, view):
        if unit == 3:
            ring.stream.submit_host(count_up, 10.0, view[1], view[0])

    for _ in range(3):
        ring.step(compute)
    assert (ring.manager.read(state) == 3).all()
    assert seen == [(True, False)] * 3


def test_what_a_host_function_raises_is_raised_once_by_the_next_call(ring):
    def fail(array):
        raise KeyError(int(array[0]))

    with ring.manager.step(ring.stream) as step:
        with step.unit(1) as view:
            ring.stream.submit_host(fail, 1.0, view[0])
            with pytest.raises(KeyError, match="2"):
                ring.stream.wait()
    ring.stream.wait()
    ring.step()


def test_a_host_function_must_not_keep_its_array(ring):
    kept = []
    with ring.manager.step(ring.stream) as step:
        with step.unit(1) as view:
            ring.stream.submit_host(kept.append, 1.0, view[0])
            with pytest.raises(BufferError, match="outlives"):
                ring.stream.wait()
    with pytest.raises(BufferError):
        ring.step()
    kept.clear()
    ring.step()


def test_other_arguments_arrive_as_they_are(ring):
    seen = []
    thing = object()
    ring.stream.submit_host(lambda *given: seen.extend(given), 1.0, thing, 5, "x")
    ring.stream.wait()
    assert seen == [thing, 5, "x"]


def test_units_may_run_on_streams_of_their_own(ring, expect_bytes):
    other = hoist.Stream(ring.device)
    for _ in range(4):
        with ring.manager.step(ring.stream) as step:
            for unit in ring.units:
                stream = other if unit % 2 else ring.stream
                with step.unit(unit, stream) as view:
                    stream.submit_host(expect_bytes, 10.0, view[0], unit + 1)
    ring.manager.drain()


def test_guarded_memory_is_for_host_functions_alone(expect_bytes):
    ring = Ring("host:1?mode=guarded").commit()
    with ring.manager.step(ring.stream) as step:
        with step.unit(0) as view:
            ring.stream.submit_host(expect_bytes, 1.0, view[0], 1)
            ring.stream.wait()
            with pytest.raises(hoist.UnsupportedError):
                view[0].memory()
    ring.manager.close()
    del ring, step, view
    gc.collect()


def test_copies_between_host_and_device(ring):
    memory = hoist.Memory(ring.device, 4096)
    source, back = np.arange(4096, dtype=np.uint16).astype(np.uint8), np.zeros(4096, np.uint8)
    ring.stream.submit_copy(hoist.CopyKind.H2D, memory, source)
    ring.stream.submit_copy(hoist.CopyKind.D2H, back, memory)
    ring.stream.wait()
    assert (back == source).all()
    assert (memory.array("uint8") == source).all()
    ring.stream.submit_fill(memory, 9)
    ring.stream.wait()
    assert bytes(memoryview(memory)) == b"\x09" * 4096
    with pytest.raises(hoist.InvalidArgumentError, match="4096"):
        ring.stream.submit_copy(hoist.CopyKind.D2H, np.zeros(5, np.uint8), memory)


def test_events_are_ordered_and_timed(ring):
    begin, end = hoist.Event(ring.device), hoist.Event(ring.device)
    with pytest.raises(hoist.OrderError):
        end.wait()
    begin.record(ring.stream)
    ring.stream.submit_host(lambda: None, 1.0)
    end.record(ring.stream)
    other = hoist.Stream(ring.device)
    other.wait_event(end)
    other.wait()
    assert end.poll()
    assert hoist.elapsed_us(begin, end) >= 0
