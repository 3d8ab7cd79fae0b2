# SPDX-License-Identifier: Apache-2.0
"""What any Python can do with the library alone: ctypes, no compiled module, no package.

The declarations below are written by hand, as a user would; a C compiler compares them with the headers.
LIBHOIST: the library; CC: the compiler.
"""

import ctypes as c
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[3] / "include"


class Handle(c.c_void_p):
    """Any handle; not a plain c_void_p, which ctypes would turn into an int."""


class hoist_error_t(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("code", c.c_int), ("reserved", c.c_uint32), ("message", c.c_char_p),
                ("where", c.c_char_p), ("hint", c.c_char_p)]


class hoist_budget_options_t(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("budget_bytes", c.c_uint64), ("budget_share", c.c_double),
                ("pinned_limit_bytes", c.c_uint64), ("profile_steps", c.c_uint32), ("run_ahead_steps", c.c_uint32),
                ("plan_effort", c.c_uint32), ("trust", c.c_int), ("placement", c.c_int)]


class hoist_manager_options_t(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("budget", Handle)]


class hoist_tensor_desc_t(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p), ("bytes", c.c_uint64), ("host", c.c_void_p),
                ("flags", c.c_uint32), ("mode", c.c_int), ("tensor_class", c.c_int), ("reserved", c.c_uint32),
                ("release", c.c_void_p), ("user_data", c.c_void_p)]


class hoist_tensor_view_t(c.Structure):
    _fields_ = [("data", c.c_void_p), ("bytes", c.c_uint64), ("tensor", c.c_uint32), ("mode", c.c_int)]


class hoist_unit_view_t(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("count", c.c_size_t), ("stride", c.c_size_t), ("tensors", c.c_void_p)]


HOST_FUNCTION = c.CFUNCTYPE(None, c.c_void_p)
COPY = 1

# name: (result, arguments), each as (ctypes type, C spelling)
STATUS, TEXT, SIZE = (c.c_int, "hoist_status_t"), (c.c_char_p, "const char*"), (c.c_uint64, "uint64_t")


def handle(noun):
    return (Handle, f"hoist_{noun}_t*")


def out(kind, spelling):
    return (c.POINTER(kind), f"{spelling}*")


DEVICE, STREAM, BUDGET, MANAGER = map(handle, ("device", "stream", "budget", "manager"))
INDEX = (c.c_uint32, "uint32_t")
FUNCTIONS = {
    "hoist_version_string": (TEXT, []),
    "hoist_version_abi": (INDEX, []),
    "hoist_last_error": (STATUS, [out(hoist_error_t, "hoist_error_t")]),
    "hoist_device_open": (STATUS, [TEXT, out(Handle, "hoist_device_t*")]),
    "hoist_device_close": ((None, "void"), [DEVICE]),
    "hoist_stream_create": (STATUS, [DEVICE, out(Handle, "hoist_stream_t*")]),
    "hoist_stream_destroy": ((None, "void"), [STREAM]),
    "hoist_stream_wait": (STATUS, [STREAM]),
    "hoist_stream_submit_host": (STATUS, [STREAM, (HOST_FUNCTION, "hoist_host_fn_t"), (c.c_void_p, "void*"),
                                          (c.c_double, "double")]),
    "hoist_budget_options_init": (STATUS, [out(hoist_budget_options_t, "hoist_budget_options_t")]),
    "hoist_budget_options_set": (STATUS, [out(hoist_budget_options_t, "hoist_budget_options_t"), TEXT, TEXT]),
    "hoist_budget_create": (STATUS, [DEVICE, out(hoist_budget_options_t, "const hoist_budget_options_t"),
                                     out(Handle, "hoist_budget_t*")]),
    "hoist_budget_destroy": ((None, "void"), [BUDGET]),
    "hoist_manager_options_init": (STATUS, [out(hoist_manager_options_t, "hoist_manager_options_t")]),
    "hoist_manager_create": (STATUS, [DEVICE, out(hoist_manager_options_t, "const hoist_manager_options_t"),
                                      out(Handle, "hoist_manager_t*")]),
    "hoist_manager_destroy": ((None, "void"), [MANAGER]),
    "hoist_manager_add_unit": (STATUS, [MANAGER, TEXT, out(c.c_uint32, "hoist_unit_t")]),
    "hoist_manager_add_tensor": (STATUS, [MANAGER, INDEX, out(hoist_tensor_desc_t, "const hoist_tensor_desc_t"),
                                          out(c.c_uint32, "hoist_tensor_t")]),
    "hoist_manager_commit": (STATUS, [MANAGER]),
    "hoist_step_begin": (STATUS, [MANAGER, STREAM]),
    "hoist_unit_begin": (STATUS, [MANAGER, INDEX, STREAM, out(hoist_unit_view_t, "hoist_unit_view_t")]),
    "hoist_unit_end": (STATUS, [MANAGER, INDEX, STREAM]),
    "hoist_step_end": (STATUS, [MANAGER, STREAM]),
    "hoist_tensor_read": (STATUS, [MANAGER, INDEX, (c.c_void_p, "void*"), SIZE]),
}
STRUCTS = (hoist_error_t, hoist_budget_options_t, hoist_manager_options_t, hoist_tensor_desc_t, hoist_tensor_view_t,
           hoist_unit_view_t)


def load():
    library = c.CDLL(os.environ["LIBHOIST"])
    for name, ((result, _), arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = [kind for kind, _ in arguments]
    return library


def c_asserts():
    """A C file that compiles where the declarations are the headers'."""
    lines = ['#include "hoist/hoist.h"', f"_Static_assert(HOIST_TENSOR_COPY == {COPY}, \"\");"]
    for struct in STRUCTS:
        name = struct.__name__
        lines.append(f'_Static_assert(sizeof({name}) == {c.sizeof(struct)}, "{name}");')
        for field, kind in struct._fields_:
            offset = getattr(struct, field).offset
            lines.append(f'_Static_assert(offsetof({name}, {field}) == {offset} && '
                         f'sizeof((({name}*)0)->{field}) == {c.sizeof(kind)}, "{name}.{field}");')
    for name, ((kind, result), arguments) in FUNCTIONS.items():
        spelled = ", ".join(spelling for _, spelling in arguments) or "void"
        lines.append(f"{result} (*check_{name})({spelled}) = {name};")
        for type_, spelling in [(kind, result), *arguments]:
            if type_ is not None:
                lines.append(f'_Static_assert(sizeof({spelling}) == {c.sizeof(type_)}, "{name}: {spelling}");')
    return "\n".join(lines)


def compiles(source):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.c"
        path.write_text(source)
        command = [os.environ.get("CC", "cc"), "-std=c11", "-Werror", "-fsyntax-only", f"-I{INCLUDE}", str(path)]
        return subprocess.run(command, capture_output=True, text=True)


class Declarations(unittest.TestCase):
    def test_the_headers_say_the_same(self):
        run = compiles(c_asserts())
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_difference_would_be_found(self):
        good = c_asserts()
        for wrong in (good.replace("(*check_hoist_stream_wait)(hoist_stream_t*)", "(*check_hoist_stream_wait)(int)"),
                      good.replace("offsetof(hoist_error_t, hint) == ", "offsetof(hoist_error_t, hint) == 8 + ")):
            self.assertNotEqual(wrong, good)
            self.assertNotEqual(compiles(wrong).returncode, 0)


class Smoke(unittest.TestCase):
    def setUp(self):
        self.lib = load()

    def check(self, status):
        if status:
            error = hoist_error_t(c.sizeof(hoist_error_t))
            self.lib.hoist_last_error(c.byref(error))
            self.fail(f"{error.where.decode()}: {error.message.decode()} ({error.hint.decode()})")

    def make(self, call, *arguments):
        made = Handle()
        self.check(call(*arguments, c.byref(made)))
        return made

    def test_an_error_says_what_would_do(self):
        device = Handle()
        self.assertNotEqual(self.lib.hoist_device_open(b"host:0?mod=threaded", c.byref(device)), 0)
        error = hoist_error_t(c.sizeof(hoist_error_t))
        self.check(self.lib.hoist_last_error(c.byref(error)))
        self.assertEqual(error.where, b"hoist_device_open")
        self.assertIn(b"mode", error.hint)
        self.assertIsNone(device.value)

    def test_a_ring_streams(self):
        lib, seen = self.lib, []
        device = self.make(lib.hoist_device_open, b"host:0?mode=threaded")
        stream = self.make(lib.hoist_stream_create, device)
        options = hoist_budget_options_t(c.sizeof(hoist_budget_options_t))
        self.check(lib.hoist_budget_options_init(c.byref(options)))
        self.check(lib.hoist_budget_options_set(c.byref(options), b"budget", b"50%"))
        budget = self.make(lib.hoist_budget_create, device, c.byref(options))
        joined = hoist_manager_options_t(c.sizeof(hoist_manager_options_t))
        self.check(lib.hoist_manager_options_init(c.byref(joined)))
        joined.budget = budget
        manager = self.make(lib.hoist_manager_create, device, c.byref(joined))
        tensors = [self.add_unit(manager, u) for u in range(4)]
        self.check(lib.hoist_manager_commit(manager))
        for _ in range(3):
            kept = self.run_step(manager, stream, seen)
            self.check(lib.hoist_stream_wait(stream))
        del kept
        self.assertEqual(seen, [0, 1, 2, 3] * 3)
        self.assertEqual([self.read(manager, tensor) for tensor in tensors], [bytes([u]) * 4096 for u in range(4)])
        lib.hoist_manager_destroy(manager)
        lib.hoist_budget_destroy(budget)
        lib.hoist_stream_destroy(stream)
        lib.hoist_device_close(device)

    def add_unit(self, manager, u):
        unit, tensor, source = c.c_uint32(), c.c_uint32(), (c.c_ubyte * 4096)(*[u] * 4096)
        self.check(self.lib.hoist_manager_add_unit(manager, f"u{u}".encode(), c.byref(unit)))
        desc = hoist_tensor_desc_t(c.sizeof(hoist_tensor_desc_t), f"w{u}".encode(), 4096,
                                   c.cast(source, c.c_void_p), COPY)
        self.check(self.lib.hoist_manager_add_tensor(manager, unit, c.byref(desc), c.byref(tensor)))
        self.__dict__.setdefault("sources", []).append(source)
        return tensor

    def run_step(self, manager, stream, seen):
        """Gives what must live until the stream has been waited for."""
        kept = []
        self.check(self.lib.hoist_step_begin(manager, stream))
        for u in range(4):
            view = hoist_unit_view_t(c.sizeof(hoist_unit_view_t))
            self.check(self.lib.hoist_unit_begin(manager, u, stream, c.byref(view)))
            tensor = c.cast(view.tensors, c.POINTER(hoist_tensor_view_t)).contents
            self.assertEqual((view.count, tensor.bytes), (1, 4096))
            data = tensor.data
            kept.append(HOST_FUNCTION(lambda _, data=data: seen.extend(set(c.string_at(data, 4096)))))
            self.check(self.lib.hoist_stream_submit_host(stream, kept[-1], None, 10.0))
            self.check(self.lib.hoist_unit_end(manager, u, stream))
        self.check(self.lib.hoist_step_end(manager, stream))
        return kept

    def read(self, manager, tensor):
        room = c.create_string_buffer(4096)
        self.check(self.lib.hoist_tensor_read(manager, tensor, room, 4096))
        return room.raw


if __name__ == "__main__":
    unittest.main()
