# SPDX-License-Identifier: Apache-2.0
"""What torch.cuda.graph is on a GPU, for the host device: a step is captured once and launched again without a call of
hoist or of the model.

hoist's nodes go into the graph by the device's own capture. The ops of torch, which compute on the calling thread and
know no streams, are seen by a dispatch mode and put between them as host functions: each computes anew, in the stream's
order, into the memory that its results had. A model that is compiled for it takes `backend`, which calls the ops of the
whole graph one by one: torch compiles nothing under a dispatch mode.
"""

import contextlib
import ctypes

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from hoist.torch import native

_Function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_hoist = native.library  # finds libhoist's own functions, too


def _check(status):
    assert status == 0, _hoist.hoist_status_string(status)


class _Recorder(TorchDispatchMode):
    def __init__(self, graph):
        super().__init__()
        self.graph = graph

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if function.namespace != "hoist":
            self.graph.record(lambda: self._again(function, args, kwargs or {}, out))
        return out

    @staticmethod
    def _again(function, args, kwargs, out):
        for old, new in zip(tree_leaves(out), tree_leaves(function(*args, **kwargs))):
            if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                old.copy_(new)


_recording = None  # the graph that compiled models are captured into


def _by_ops(module, example_inputs):
    def run(*args):
        with _Recorder(_recording) if _recording is not None else contextlib.nullcontext():
            return module(*args)

    return make_boxed_func(run)


backend = aot_autograd(fw_compiler=_by_ops)


class HostGraph:
    def __init__(self, manager):
        self.key = manager.key
        self.errors, self._kept, self._stream, self._graph = [], [], None, None

    @contextlib.contextmanager
    def capture(self, compiled=False):
        """compiled: nothing is recorded but what models compiled by `backend` do."""
        global _recording
        self._stream = ctypes.c_void_p(native.capture_begin(self.key))
        _recording = self
        try:
            with contextlib.nullcontext() if compiled else self.eager():
                yield
        finally:
            _recording = None
            self._graph = ctypes.c_void_p(native.capture_end(self.key))

    def eager(self):
        return _Recorder(self)

    def record(self, function):
        def run(_):
            try:
                with torch.no_grad():
                    function()
            except BaseException as error:
                self.errors.append(error)

        kept = _Function(run)
        self._kept.append(kept)
        _hoist.hoist_stream_submit_host.argtypes = [ctypes.c_void_p, _Function, ctypes.c_void_p, ctypes.c_double]
        _check(_hoist.hoist_stream_submit_host(self._stream, kept, None, 1.0))

    def replay(self):
        _check(_hoist.hoist_graph_launch(self._graph, self._stream))

    def wait(self):
        _check(_hoist.hoist_stream_wait(self._stream))
        assert not self.errors, self.errors

    def close(self):
        _hoist.hoist_graph_destroy.restype = None
        if self._graph is not None:
            _hoist.hoist_graph_destroy(self._graph)
