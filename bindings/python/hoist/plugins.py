# SPDX-License-Identifier: Apache-2.0
"""Devices that installed packages bring, by entry points of the group hoist.device_plugins.

    [project.entry-points."hoist.device_plugins"]
    npu = "hoist_npu:plugin_path"

The name is the kind of device; the object is the path of a device plugin, or a function that gives it. They are loaded
on first use of a device, and one that cannot be is an error of that use. HOIST_PYTHON_PLUGINS=0 loads none.
"""

import importlib.metadata
import os

from hoist import _hoist, errors

GROUP = "hoist.device_plugins"


def _raise(entry: importlib.metadata.EntryPoint, code: int, message: str, cause: Exception | None = None) -> None:
    package = f" of {entry.dist.name}" if entry.dist is not None else ""
    raise errors._make(code, _hoist.status_string(code), f"entry point '{entry.name} = {entry.value}'{package}: {message}",
                       GROUP, "mend or remove that package, or set HOIST_PYTHON_PLUGINS=0") from cause


def _load(entry: importlib.metadata.EntryPoint) -> None:
    try:
        found = entry.load()
        path = os.fspath(found() if callable(found) else found)
    except Exception as error:
        _raise(entry, 3, f"{type(error).__name__}: {error}", error)
    try:
        kind = _hoist.plugin_load(path)
    except errors.Error as error:
        _raise(entry, error.code, error.message, error)
    if kind != entry.name:
        _raise(entry, 1, f"device plugin '{path}' is of kind '{kind}', not '{entry.name}'")


def load_entry_points() -> None:
    """Loads every plugin of the group; again: nothing happens."""
    if os.environ.get("HOIST_PYTHON_PLUGINS", "1").lower() in ("0", "off", "false", "no"):
        return
    for entry in importlib.metadata.entry_points(group=GROUP):
        _load(entry)
