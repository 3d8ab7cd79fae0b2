# SPDX-License-Identifier: Apache-2.0
"""Devices by a plugin's path and by entry points of installed packages, each in a process of its own."""

import os
import subprocess
import sys

import hoist
import pytest

PLUGIN = os.environ.get("DEVICE_PLUGIN")
pytestmark = pytest.mark.skipif(PLUGIN is None, reason="DEVICE_PLUGIN names no built plugin of kind mini")


def python(code, tmp_path, **environment):
    """Runs code where packages of tmp_path are installed; gives what it printed."""
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": paths, **environment})
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def install(tmp_path, name, value, module):
    (tmp_path / "hoist_mini.py").write_text(module)
    info = tmp_path / "hoist_mini-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hoist-mini\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[hoist.device_plugins]\n{name} = {value}\n")


OPEN = "import hoist; print(hoist.Device('mini:1').time_us)"
FAIL = """
import hoist
for _ in range(2):
    try:
        hoist.Device("host:0")
    except hoist.Error as error:
        print(type(error).__name__, error)
"""


def test_by_path(tmp_path):
    code = f"import hoist; print(hoist.plugin_load({PLUGIN!r})); {OPEN}"
    assert python(code, tmp_path).split() == ["mini", "42.0"]
    listing = "import hoist; print([hoist.device_properties(i).name for i in range(hoist.device_count())])"
    assert python(listing, tmp_path, HOIST_DEVICE_PLUGINS=f"mini={PLUGIN}").count("mini") == 3


@pytest.mark.parametrize("module", [f"plugin = {PLUGIN!r}", f"def plugin(): return {PLUGIN!r}"])
def test_by_an_entry_point(tmp_path, module):
    install(tmp_path, "mini", "hoist_mini:plugin", module)
    assert python(OPEN, tmp_path) == "42.0"
    assert python("import hoist; print(hoist.device_count())", tmp_path) == str(hoist.device_count() + 3)
    assert python("import hoist; print(hoist.device_count())", tmp_path, HOIST_PYTHON_PLUGINS="0") == \
        str(hoist.device_count())


@pytest.mark.parametrize(("name", "value", "kind", "words"), [
    ("mini", "hoist_mini:nothing", "NotFoundError", "AttributeError"),
    ("mini", "hoist_mini:bad", "NotFoundError", "'/nowhere/libmini.so'"),
    ("maxi", "hoist_mini:good", "InvalidArgumentError", "is of kind 'mini', not 'maxi'"),
])
def test_an_entry_point_that_fails_is_named(tmp_path, name, value, kind, words):
    install(tmp_path, name, value, f"bad = '/nowhere/libmini.so'\ngood = {PLUGIN!r}")
    said = python(FAIL, tmp_path).splitlines()
    assert len(said) == 2 and all(line.startswith(kind) for line in said), said
    assert words in said[0] and f"'{name} = {value}' of hoist-mini" in said[0], said


def test_a_path_that_is_not_there():
    with pytest.raises(hoist.NotFoundError, match="/nowhere/libmini.so"):
        hoist.plugin_load("/nowhere/libmini.so")
