# SPDX-License-Identifier: Apache-2.0
"""What keeps what alive, who holds the interpreter's lock, what happens at the end."""

import gc
import subprocess
import sys
import threading
import time
import weakref

import hoist
import numpy as np
import pytest

from conftest import BYTES, Ring


class Source(np.ndarray):
    """An array that weak references can watch."""


def watched(value):
    array = np.full(BYTES, value, np.uint8).view(Source)
    return array, weakref.ref(array)


def test_a_copied_source_is_held_until_the_commit():
    ring = Ring("host:0?mode=inline")
    source, alive = watched(9)
    tensor = ring.manager.add_copied(ring.units[0], "extra", source)
    del source
    gc.collect()
    assert alive() is not None
    ring.commit()
    assert alive() is None
    assert (ring.manager.read(tensor) == 9).all()


def test_a_source_of_a_refused_tensor_is_given_back():
    ring = Ring("host:0?mode=inline")
    source, alive = watched(9)
    for add in (ring.manager.add_copied, ring.manager.add_adopted):
        with pytest.raises(hoist.AlreadyExistsError):
            add(ring.units[0], "w0", source)
    del source, add
    gc.collect()
    assert alive() is None


def test_an_adopted_buffer_is_held_until_the_end_and_written_by_stores():
    ring = Ring("host:0?mode=threaded")
    source, alive = watched(4)
    kept = np.asarray(source)
    ring.manager.add_adopted(ring.units[0], "state", source, mode=hoist.UseMode.READ_WRITE)
    ring.commit()

    def count_up(array):
        array += 1

    for _ in range(3):
        ring.step(lambda unit, view: unit == 0 and ring.stream.submit_host(count_up, 1.0, view[1]))
    ring.manager.drain()
    assert (kept == 7).all()
    del source, kept
    gc.collect()
    assert alive() is not None
    ring.manager.close()
    assert alive() is None


def test_only_writable_memory_can_be_adopted():
    ring = Ring("host:0?mode=inline")
    with pytest.raises(BufferError):
        ring.manager.add_adopted(ring.units[0], "frozen", bytes(BYTES))


def test_host_views_are_read_only_and_outlive_the_manager(ring):
    view = ring.manager.host_view(ring.weights[2], "uint16")
    assert view.shape == (BYTES // 2,) and not view.flags.writeable
    ring.manager.close()
    gc.collect()
    assert (view == 0x0303).all()
    with pytest.raises(hoist.InvalidStateError, match="closed"):
        ring.manager.query()


def test_memory_arrays_keep_their_memory():
    array = hoist.Memory(hoist.Device("host:0?mode=inline"), 64).array("uint8")
    gc.collect()
    array[:] = 5
    assert array.sum() == 5 * 64


def test_waits_let_other_threads_run():
    ring = Ring("host:0?mode=threaded").commit()
    done, ran = threading.Event(), []

    def slow():
        ran.append(done.wait(20))

    ring.stream.submit_host(slow, 1.0)
    threading.Timer(0.1, done.set).start()
    ring.stream.wait()  # a wait that kept the lock would hang here: slow() and the timer need it
    assert ran == [True]


def test_a_dropped_stream_runs_its_functions_first():
    device = hoist.Device("host:0?mode=threaded")
    stream, ran = hoist.Stream(device), []
    for i in range(20):
        stream.submit_host(lambda i=i: (time.sleep(0.001), ran.append(i)), 1.0)
    del stream
    assert ran == list(range(20))


def test_a_second_thread_in_a_manager_is_told(ring):
    if ring.device.query().capabilities & hoist.Capability.ASYNC == 0:
        pytest.skip("nothing is ever under way on an inline device")
    inside, go_on, told = threading.Event(), threading.Event(), []
    for _ in range(4):  # the steps before serving wait for their work
        ring.step()

    def block():
        inside.set()
        go_on.wait(20)

    with ring.manager.step(ring.stream) as step:
        with step.unit(0):
            ring.stream.submit_host(block, 1.0)
    inside.wait(20)
    def drain_in_the_end():  # whoever comes second is told, which may be this one
        while True:
            try:
                return ring.manager.drain()
            except hoist.BusyError:
                time.sleep(0.001)

    drain = threading.Thread(target=drain_in_the_end)
    drain.start()
    deadline = time.monotonic() + 20
    while not told and time.monotonic() < deadline:
        try:
            ring.manager.query()
        except hoist.BusyError as error:
            told.append(error)
    go_on.set()
    drain.join()
    assert told
    ring.manager.query()


@pytest.mark.parametrize("mode", ["threaded", "inline"])
def test_the_interpreter_ends_in_order(mode):
    program = f"""
import hoist, time
device = hoist.Device("host:0?mode={mode}")
stream = hoist.Stream(device)
hoist.log_set(hoist.LogLevel.DEBUG, lambda level, message: None)
for i in range(5):
    stream.submit_host(lambda i=i: (time.sleep(0.02), print(i, flush=True)), 1.0)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "0\n1\n2\n3\n4\n", "")


def test_an_exception_nobody_asked_for_is_reported():
    program = """
import hoist
stream = hoist.Stream(hoist.Device("host:0?mode=threaded"))
stream.submit_host(lambda: 1 / 0, 1.0)
del stream
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and "ZeroDivisionError" in run.stderr
