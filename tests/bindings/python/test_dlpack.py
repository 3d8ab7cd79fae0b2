# SPDX-License-Identifier: Apache-2.0
"""DLPack: consumers compute on the bytes where they are, in stream order, and only while their unit is open."""

import ctypes
import gc
import os

import hoist
import numpy as np
import pytest

from conftest import BYTES, Ring


def test_numpy_reads_the_units_bytes_in_place(ring):
    def check(unit, view):
        made = view[0].dlpack("uint8", (8, BYTES // 8))
        assert made.__dlpack_device__() == (1, 0) and made.shape == (8, BYTES // 8)
        array = np.from_dlpack(made)
        assert array.shape == (8, BYTES // 8) and (array == unit + 1).all()
        assert array.ctypes.data == view[0].pointer
        assert not array.flags.writeable  # the unit only reads it

    for _ in range(4):
        ring.step(check)


def test_what_a_unit_writes_comes_back():
    ring = Ring("host:0?mode=threaded")
    state = ring.manager.add_zero(ring.units[0], "state", BYTES, mode=hoist.UseMode.READ_WRITE)
    ring.commit()

    def add_one(unit, view):
        if unit == 0:
            array = np.from_dlpack(view[1].dlpack("float32", (BYTES // 4,)))
            array += 1

    for _ in range(5):
        ring.step(add_one)
    ring.manager.drain()
    assert (ring.manager.read(state).view("float32") == 5).all()
    ring.manager.close()


@pytest.mark.parametrize("name, code, bits", [
    ("float32", 2, 32), ("F32", 2, 32), ("bfloat16", 4, 16), ("BF16", 4, 16), ("float16", 2, 16), ("F8_E4M3", 10, 8),
    ("float8_e4m3fn", 10, 8), ("F8_E5M2", 12, 8), ("I8", 0, 8), ("bool", 6, 8), ("uint64", 1, 64), (np.float64, 2, 64),
    (np.dtype("int16"), 0, 16)])
def test_dtypes(name, code, bits):
    memory = hoist.Memory(hoist.Device("host:0"), 4096)
    tensor = tensor_of(memory.dlpack(name).__dlpack__(max_version=(1, 0)))
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.ndim) == (code, bits, 1, 1)
    assert tensor.shape[0] == 4096 * 8 // bits


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p),
                ("type", ctypes.c_int32), ("index", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


def tensor_of(capsule):
    """The struct in a capsule that nobody has taken; it lives as long as the capsule, which is kept in it."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = Versioned.from_address(get(capsule, b"dltensor_versioned"))
    tensor.capsule = capsule
    return tensor


def test_the_struct_says_what_it_is(ring):
    with ring.manager.step(ring.stream) as step:
        with step.unit(ring.units[0]) as view:
            tensor = tensor_of(view[0].dlpack("bfloat16", [4, 8, -1 + 129]).__dlpack__(max_version=(1, 1)))
            assert (tensor.major, tensor.minor, tensor.flags) == (1, 0, 1)
            assert tensor.data == view[0].pointer and tensor.strides is None and tensor.offset == 0
            assert tensor.shape[:3] == [4, 8, 128]
            del tensor
            capsule = view[0].dlpack("uint8").__dlpack__()
            assert '"dltensor"' in repr(capsule)
            del capsule


def test_what_is_no_view_of_these_bytes_is_refused(ring):
    def check(_, view):
        with pytest.raises(hoist.InvalidArgumentError, match="dtype 'float31' is unknown"):
            view[0].dlpack("float31")
        with pytest.raises(hoist.InvalidArgumentError, match=r"shape \(3, 5\)"):
            view[0].dlpack("float32", (3, 5))
        with pytest.raises(hoist.InvalidArgumentError):
            view[0].dlpack("float32", (-1,))
        with pytest.raises(hoist.InvalidArgumentError):
            view[0].dlpack("uint8", (1 << 62, 1 << 62))
        made = view[0].dlpack("uint8")
        with pytest.raises(BufferError):
            made.__dlpack__(stream=3)
        with pytest.raises(BufferError):
            made.__dlpack__(dl_device=(2, 0))
        with pytest.raises(BufferError):
            made.__dlpack__(copy=True)
        assert made.__dlpack__(stream=None, dl_device=(1, 0), copy=False, max_version=(1, 0))

    ring.step(check)


def test_bytes_that_no_thread_may_touch_have_no_views():
    ring = Ring("host:0?mode=guarded").commit()
    with pytest.raises(hoist.UnsupportedError, match="no DLPack views"):
        ring.step(lambda unit, view: view[0].dlpack("uint8"))
    ring.manager.close()


def test_a_view_is_refused_after_its_unit(ring):
    kept = []
    ring.step(lambda unit, view: kept.append(view[0].dlpack("uint8")))
    with pytest.raises(hoist.StaleError):
        kept[0].__dlpack__()


def test_a_tensor_that_outlives_its_unit_is_told(ring):
    arrays = []
    with pytest.raises(BufferError, match="outlives the unit"):
        ring.step(lambda unit, view: arrays.append(np.from_dlpack(view[0].dlpack("uint8"))))
    with pytest.raises(BufferError, match="DLPack tensor of tensor 0"):
        ring.step()
    arrays.clear()
    gc.collect()
    ring.step()


def test_tensors_in_cycles_are_collected_first(ring):
    def make_cycle(_, view):
        cycle = [np.from_dlpack(view[0].dlpack("uint8"))]
        cycle.append(cycle)

    for _ in range(3):
        ring.step(make_cycle)


def test_memory_of_ones_own_is_kept_by_its_tensors():
    memory = hoist.Memory(hoist.Device("host:0"), 64)
    array = np.from_dlpack(memory.dlpack("int32", (4, 4)))
    array[:] = 7
    del memory
    gc.collect()
    assert (array == 7).all() and array.flags.writeable


def test_an_unused_capsule_gives_its_tensor_back(ring):
    def check(_, view):
        for version in (None, (1, 0)):
            view[0].dlpack("uint8").__dlpack__(max_version=version)

    ring.step(check)


def test_torch_computes_on_it(ring):
    torch = pytest.importorskip("torch")

    def check(unit, view):
        tensor = torch.from_dlpack(view[0].dlpack(torch.uint8, (2, BYTES // 2)))
        assert tensor.data_ptr() == view[0].pointer and tensor.shape == (2, BYTES // 2)
        assert int(tensor.sum()) == (unit + 1) * BYTES
        wide = torch.from_dlpack(view[0].dlpack("BF16"))
        assert wide.dtype == torch.bfloat16 and wide.numel() == BYTES // 2

    for _ in range(3):
        ring.step(check)


def test_host_memory_is_a_buffer(ring):
    host = hoist.HostMemory(ring.device, 4096)
    assert host.bytes == 4096 and host.pinned
    array = np.frombuffer(host, "uint8")
    assert array.flags.writeable and not array.any()
    array[:] = 3
    memory = hoist.Memory(ring.device, 4096)
    ring.stream.submit_copy(hoist.CopyKind.H2D, memory, host)
    ring.stream.wait()
    assert (np.from_dlpack(memory.dlpack("uint8")) == 3).all()
    assert np.frombuffer(hoist.HostMemory(ring.device, 0), "uint8", 0).size == 0


def test_times_of_units(ring):
    with pytest.raises(hoist.InvalidStateError):
        ring.manager.timing(0)
    ring.manager.timing_begin(0)
    for _ in range(6):
        ring.step(lambda unit, view: ring.stream.submit_host(lambda array: None, 0.0, view[0]))
    ring.manager.drain()
    ring.manager.timing_update()
    for unit in ring.units:
        timing = ring.manager.timing(unit)
        assert timing.steps == 6
        assert 0 <= timing.compute_min_us <= timing.compute_median_us <= timing.compute_max_us
        assert 0 <= timing.wait_min_us <= timing.wait_median_us <= timing.wait_max_us
        assert 0 <= timing.transfer_min_us <= timing.transfer_median_us <= timing.transfer_max_us
        assert timing.transfer_bytes in (0, BYTES)
    ring.manager.timing_end()
    assert ring.manager.query().pageable_bytes == 0


on_gpu = pytest.mark.skipif("cuda:0" not in os.environ.get("HOIST_TEST_DEVICES", ""), reason="no GPU was named")


def gpu_ring(native=None):
    """Each unit has a weight; the first one a state too."""
    ring = Ring("cuda:0")
    if native is not None:
        ring.stream = hoist.Stream.wrap(ring.device, native)
    state = ring.manager.add_zero(ring.units[0], "state", BYTES, mode=hoist.UseMode.READ_WRITE)
    return ring.commit(), state


def finish(ring, state, wrong, steps):
    ring.manager.drain()
    assert sum(int(count) for count in wrong) == 0
    assert (ring.manager.read(state).view("float32") == steps).all()
    ring.manager.close()


@on_gpu
@pytest.mark.parametrize("streams", ["hoist's own", "torch's wrapped", "the legacy one wrapped"])
def test_torch_on_a_gpu(streams):
    torch = pytest.importorskip("torch")
    side, legacy = torch.cuda.Stream(), torch.cuda.default_stream()
    native = {"hoist's own": None, "torch's wrapped": side.cuda_stream, "the legacy one wrapped": 0}[streams]
    ring, state = gpu_ring(native)
    wrong = []

    def check(unit, view):
        tensor = torch.from_dlpack(view[0].dlpack(torch.uint8))
        assert tensor.is_cuda and tensor.data_ptr() == view[0].pointer
        torch.cuda._sleep(200_000)  # so that a missing order shows
        wrong.append((tensor != unit + 1).sum())
        if unit == 0:
            torch.from_dlpack(view[1].dlpack("float32")).add_(1)

    with torch.cuda.stream(legacy if streams == "the legacy one wrapped" else side):
        for _ in range(20):
            ring.step(check)
        torch.cuda.synchronize()
    finish(ring, state, wrong, 20)


@on_gpu
def test_cupy_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    ring, state = gpu_ring()
    wrong = []

    def check(unit, view):
        array = cupy.from_dlpack(view[0].dlpack("uint8"))
        assert array.data.ptr == view[0].pointer
        wrong.append((array != unit + 1).sum())
        if unit == 0:
            numbers = cupy.from_dlpack(view[1].dlpack("float32"))
            numbers += 1

    with cupy.cuda.Stream(non_blocking=True):
        for _ in range(20):
            ring.step(check)
    cupy.cuda.Device().synchronize()
    finish(ring, state, wrong, 20)


@on_gpu
def test_jax_on_a_gpu():
    jax = pytest.importorskip("jax")
    ring, _ = gpu_ring()

    def check(unit, view):
        array = jax.dlpack.from_dlpack(view[0].dlpack("uint8"))
        total = array.astype("int32").sum().block_until_ready()
        assert int(total) == (unit + 1) * BYTES

    for _ in range(6):
        ring.step(check)
    ring.manager.close()
