# SPDX-License-Identifier: Apache-2.0
"""What is put around a model's modules: subclasses of their classes, made on the fly and taken off again.

A streamed parameter is read through a property that gives the tensor of the open unit; units and the model have a
forward that begins and ends them. Dynamo traces all of it as ordinary Python, so that one graph holds the model.
"""

import copyreg
import functools
import warnings

import torch
from torch import nn

MARKS = ("_hoist_unit", "_hoist_index", "_hoist_run", "_hoist_root", "_hoist_forward", "_hoist_manual", "_hoist_device")
# Roles; "part" is any module of a model whose units are given by hand, "placed" one that tells its device.
WITH_FORWARD = ("unit", "root")
_classes: dict[tuple, type] = {}


def _read(name: str) -> property:
    def get(module):
        views = module._hoist_unit.views
        if views is not None and name in module._hoist_index:
            view = views[module._hoist_index[name]]
            if view is not None:
                return view
        return module._hoist_unit.closed_read(module, name)

    return property(get)


def _flat_weights() -> property:
    """Recurrent modules read their weights from a list that they keep."""
    return property(lambda module: [getattr(module, name) for name in module._flat_weights_names],
                    lambda module, value: None)


def _forward(base: type, role: str, of_instance: bool):
    inner = (lambda self, *args, **kwargs: self._hoist_forward(*args, **kwargs)) if of_instance else base.forward
    if role == "unit":
        def forward(self, *args, **kwargs):
            return self._hoist_run.run(inner, self, args, kwargs)
    else:
        def forward(self, *args, **kwargs):
            return self._hoist_root.run(inner, self, args, kwargs)
    return functools.wraps(base.forward)(forward)


def original_class(module: nn.Module) -> type:
    kind = type(module)
    while hasattr(kind, "_hoist_base"):
        kind = kind._hoist_base
    return kind


def _reduce(self, protocol):
    """Copies and pickles are plain modules with bytes of their own."""
    state = {key: value for key, value in original_class(self).__getstate__(self).items() if key not in MARKS}
    if "_hoist_forward" in self.__dict__:
        state["forward"] = self._hoist_forward
    return copyreg._reconstructor, (original_class(self), object, None), state


def _dtype_after(function, parameter):
    try:
        return function(torch.empty(0, dtype=parameter.dtype)).dtype
    except Exception:
        return parameter.dtype  # it is no conversion


def _apply(self, function, recurse=True):
    """`to`, `cuda`, `half` and their like leave what streams alone, and say so where it would have another dtype."""
    order = list(self._parameters)
    hidden = {name: self._parameters.pop(name) for name in order if name in self._hoist_index}
    for name, parameter in hidden.items():
        if parameter is not None and (dtype := _dtype_after(function, parameter)) != parameter.dtype:
            whole = self._hoist_unit.manager.model
            warnings.warn(f'hoist.torch: a {type(whole).__name__} is offloaded: "{name}" of its {type(self).__name__} streams and '
                          f"stays {parameter.dtype} (call hoist.torch.manager(model).release(), model.to({dtype}), and "
                          "offload(model, ...) again)", stacklevel=4)
    try:
        original_class(self)._apply(self, function, recurse)
    finally:
        everything = {**self._parameters, **hidden}
        self._parameters.clear()
        self._parameters.update((name, everything[name]) for name in order)
    return self


def _given(owner, module, name: str, parameter):
    """What the open unit computes with for a parameter; the parameter itself where it is none of its own."""
    if getattr(module, "_hoist_unit", None) is not owner:
        return parameter
    if owner.views is None:
        return getattr(module, name)  # a manual unit finds out that it reads it
    number = module._hoist_index[name] if name in module._hoist_index else None
    if number is None or owner.views[number] is None:
        return parameter
    return owner.views[number]


def _named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
    """Within a unit's forward what it computes with, as reads of attributes give it; else the parameters themselves."""
    owner = self._hoist_run if "_hoist_run" in self.__dict__ else self._hoist_unit
    if not owner.is_open():
        yield from original_class(self).named_parameters(self, prefix, recurse, remove_duplicate)
        return
    seen = set()
    for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
        for name, parameter in module._parameters.items():
            if parameter is None or (remove_duplicate and parameter in seen):
                continue
            seen.add(parameter)
            yield f"{path}.{name}" if path else name, _given(owner, module, name, parameter)


def _load_state_dict(self, *args, **kwargs):
    """With nothing in flight, and what has come is brought to the device at once."""
    manager = self.__dict__["_hoist_root"] if "_hoist_root" in self.__dict__ else self._hoist_run.manager
    manager.settle()
    try:
        return original_class(self).load_state_dict(self, *args, **kwargs)
    finally:
        manager.refresh(only_changed=True)


def _class(base: type, names: tuple[str, ...], role: str, of_instance: bool) -> type:
    key = (base, names, role, of_instance)
    if key not in _classes:
        body = {name: _read(name) for name in names}
        body |= {"_hoist_base": base, "__module__": base.__module__, "__qualname__": base.__qualname__,
                 "__reduce_ex__": _reduce, "__doc__": base.__doc__}
        if names:
            body["_apply"] = _apply
            if issubclass(base, nn.RNNBase):
                body["_flat_weights"] = _flat_weights()
        if role == "placed":
            body["device"] = property(lambda module: module._hoist_device)
        if names or role in ("unit", "part"):
            body["named_parameters"] = _named_parameters
        if role in WITH_FORWARD:
            body["load_state_dict"] = _load_state_dict
            body["forward"] = _forward(base, role, of_instance)
        _classes[key] = type(base.__name__, (base,), body)
    return _classes[key]


def put_on(module: nn.Module, names: tuple[str, ...] = (), role: str = "") -> None:
    """Makes the module's class one that reads `names` through properties, with a forward for its role."""
    of_instance = role in WITH_FORWARD and "forward" in module.__dict__
    if of_instance:
        module.__dict__["_hoist_forward"] = module.__dict__.pop("forward")
    module.__class__ = _class(type(module), names, role, of_instance)


def show_device(model: nn.Module, device: torch.device) -> None:
    """Modules that tell their device, as those of transformers and diffusers do, name the one that they compute on.

    Theirs is their first parameter's, which lies on the host while it is out; inputs would be sent there."""
    for module in list(model.modules()):
        if isinstance(getattr(type(module), "device", None), property) and "_hoist_device" not in module.__dict__:
            module.__dict__["_hoist_device"] = device
            put_on(module, role="placed")


def take_off(module: nn.Module) -> None:
    module.__class__ = original_class(module)
    if "_hoist_forward" in module.__dict__:
        module.__dict__["forward"] = module.__dict__["_hoist_forward"]
    for mark in MARKS:
        module.__dict__.pop(mark, None)


class Shell:
    """Of a unit's module: the same state with the forward that it had, called without hooks, for a compiler to wrap."""

    def __new__(cls, module: nn.Module) -> nn.Module:
        kind = type(module)
        while "forward" in kind.__dict__ and hasattr(kind, "_hoist_base"):
            kind = kind._hoist_base
        body = {"__call__": lambda self, *args, **kwargs: self.forward(*args, **kwargs), "__module__": kind.__module__}
        made = object.__new__(type(kind.__name__, (kind,), body))
        object.__setattr__(made, "__dict__", module.__dict__)
        return made
