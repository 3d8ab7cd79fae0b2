# SPDX-License-Identifier: Apache-2.0
"""Ordered effects in compiled graphs: what a graph does beside computing, in the order that was meant, or refused.

Order is said twice and checked once. All ops are registered as ORDERED effects, so that stock compilers keep them. And
each takes a token and gives one, and takes what must have been computed before. The check is hoist's: an effect that
comes out of its place, or with a token of another place, is refused before it runs.
"""

import ctypes
import hashlib
import itertools
import weakref

import torch

from hoist.torch import compat, native
from hoist.torch.devices import resolve_device

_library = native.library
_library.hoist_torch_effects_close.restype = None
_library.hoist_torch_effects_fail.restype = None
_Function = ctypes.CFUNCTYPE(ctypes.c_int)

effects_begin = native.ops.effects_begin.default
effect = native.ops.effect.default
effect_here = native.ops.effect_here.default
effects_end = native.ops.effects_end.default
OPS = (effects_begin, effect, effect_here, effects_end)
registrations = {op: compat.register_ordered(op) for op in OPS}
for _op in OPS:
    compat.wrap_calls(_op, native.typed)
_open: set[int] = set()


def _token() -> torch.Tensor:
    return torch.empty((), dtype=torch.int64)


@torch.library.register_fake("hoist::effects_begin")
def _(after, effects):
    return _token()


@torch.library.register_fake("hoist::effect")
def _(token, after, effects, effect):
    return _token()


@torch.library.register_fake("hoist::effect_here")
def _(after, effects, effect):
    return None


@torch.library.register_fake("hoist::effects_end")
def _(token, after, effects):
    return None


def _key(name: str) -> int:
    """What graphs carry: 31 bits of the name, then the number among its likes."""
    base = (int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") >> 1) << 16
    return next(key for key in itertools.count(base) if key not in _open)


def _close(key: int) -> None:
    _open.discard(key)
    _library.hoist_torch_effects_close(ctypes.c_int64(key))


def _callback(function) -> "ctypes._FuncPointer":
    def run() -> int:
        try:
            function()
            return 0
        except BaseException as error:
            _library.hoist_torch_effects_fail(f"{type(error).__name__}: {error}".encode())
            return 1

    return _Function(run)


class Effect:
    """One effect of a graph. In the graph: `token = effect(token, *after)`, or `effect.here(*after)`."""

    def __init__(self, key: int, index: int, name: str):
        self.key, self.index, self.name = key, index, name

    def __call__(self, token: torch.Tensor, *after: torch.Tensor) -> torch.Tensor:
        """Runs it after the effect that gave the token, and after these tensors have been computed; gives the next token."""
        return effect(token, [tensor.detach() for tensor in after], self.key, self.index)

    def here(self, *after: torch.Tensor) -> None:
        """The same without a token: after the effects before it by its registration alone."""
        effect_here([tensor.detach() for tensor in after], self.key, self.index)


class Effects:
    """The effects of one graph. The order in which they are added is the one in which they may run.

    A run is begun and ended in the graph, by begin() and end(); or around it, by `with effects:`, which gives the run
    up where the graph raises.
    """

    def __init__(self, name: str, *, device=None):
        """device: as offload's; what effects submit to torch's current stream of it is ordered as they are."""
        where, place = resolve_device(device)
        self.name, self.key = name, _key(name)
        self._callbacks: list = []
        index = place.index if place.index is not None else -1
        native.check(_library.hoist_torch_effects_open(ctypes.c_int64(self.key), where.encode(), name.encode(),
                                                       compat.device_number(place.type), index))
        _open.add(self.key)
        weakref.finalize(self, _close, self.key)

    def add(self, name: str, function) -> Effect:
        """Registers the next effect: function(), called on the thread that runs the graph. Between runs."""
        callback, index = _callback(function), ctypes.c_uint32()
        native.check(_library.hoist_torch_effects_add(ctypes.c_int64(self.key), name.encode(), callback,
                                                      ctypes.byref(index)))
        self._callbacks.append(callback)
        return Effect(self.key, index.value, name)

    def begin(self, *after: torch.Tensor) -> torch.Tensor:
        """In the graph: begins a run; gives the token that the first effect takes."""
        return effects_begin([tensor.detach() for tensor in after], self.key)

    def end(self, token: torch.Tensor, *after: torch.Tensor) -> None:
        """In the graph: ends the run. hoist.OrderError where an effect has not run."""
        effects_end(token, [tensor.detach() for tensor in after], self.key)

    def abort(self) -> None:
        """Gives the open run up, after an error."""
        native.check(_library.hoist_torch_effects_abort(ctypes.c_int64(self.key)))

    def __enter__(self) -> "Effects":
        native.check(_library.hoist_torch_effects_begin(ctypes.c_int64(self.key)))
        return self

    def __exit__(self, kind, error, trace) -> None:
        try:
            if kind is None:
                native.check(_library.hoist_torch_effects_end(ctypes.c_int64(self.key)))
        except BaseException:
            self.abort()
            raise
        if kind is not None:
            self.abort()

    def counters(self) -> dict[str, int]:
        """Whether a run is open; runs, those given up, effects that ran, and what was refused for its order."""
        values = (ctypes.c_uint64 * 5)()
        native.check(_library.hoist_torch_effects_query(ctypes.c_int64(self.key), values))
        return dict(zip(("is_open", "runs", "aborted_runs", "submitted", "refused"), values))
