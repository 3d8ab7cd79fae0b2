# SPDX-License-Identifier: Apache-2.0
"""The type stubs, the docstrings and the module say the same."""

import ast
import enum
import re
from pathlib import Path

import hoist
from hoist import _hoist

STUB = ast.parse((Path(hoist.__file__).parent / "_hoist.pyi").read_text())
SPECIAL = {"__init__", "__enter__", "__exit__", "__len__", "__getitem__", "__iter__", "__dlpack__", "__dlpack_device__"}


def stub_members(node):
    functions = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    return {part.name: part for part in functions}


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_the_same_names():
    stubbed = {node.name for node in STUB.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert stubbed == public(vars(_hoist))


def test_the_same_members():
    for node in STUB.body:
        if not isinstance(node, ast.ClassDef):
            continue
        kind = getattr(_hoist, node.name)
        if issubclass(kind, enum.Enum):
            values = {part.targets[0].id: part.value.value for part in node.body if isinstance(part, ast.Assign)}
            assert values == {name: int(member) for name, member in kind.__members__.items()}, node.name
        else:
            there = {name for name in vars(kind) if not name.startswith("_") or name in SPECIAL}
            # pybind11 gives every class an __init__; those that cannot be made have no signature in it.
            assert set(stub_members(node)) == there - ({"__init__"} - set(stub_members(node))), node.name


def test_the_same_parameters():
    for node in STUB.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for name, function in stub_members(node).items():
            member = getattr(getattr(_hoist, node.name), name)
            if isinstance(member, property) or name in SPECIAL - {"__init__"}:
                continue
            first = (member.__doc__ or "").splitlines()[0]
            given = re.findall(r"[(,]\s*\*{0,2}(\w+)\s*[:,)]", first)
            arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
            arguments += [name for name, a in (("args", function.args.vararg), ("kwargs", function.args.kwarg)) if a]
            assert set(given) - {"self"} == set(arguments) - {"self"}, f"{node.name}.{name}: {first}"


def test_objects_that_are_facts_alone_say_them(ring):
    facts = set()
    for node in STUB.body:
        if isinstance(node, ast.ClassDef) and node.body and all(
                isinstance(part, ast.FunctionDef) and part.decorator_list for part in node.body):
            facts.add(node.name)
            assert getattr(_hoist, node.name).__repr__ is not object.__repr__, node.name
    assert {"BudgetStatus", "CheckpointTensor", "TensorInfo", "UnitTiming"} <= facts
    assert repr(ring.manager.query()).startswith("BudgetStatus(phase=<Phase.DISCOVERY: 1>, unit_count=4, tensor_count=4, ")
    assert repr(ring.manager.info(0)) == ("TensorInfo(name='w0', bytes=8192, version=0, on_device=False, "
                                          "host_current=True, flags=<TensorFlags.COPY: 1>, "
                                          "tensor_class=<TensorClass.WEIGHT: 0>)")


def test_everything_is_documented():
    for name in public(vars(_hoist)):
        thing = getattr(_hoist, name)
        assert thing.__doc__, name
        if not isinstance(thing, type) or issubclass(thing, enum.Enum):
            continue
        for member in public(vars(thing)):
            doc = getattr(thing, member).__doc__ or ""
            text = doc.split("\n\n", 1)[1] if doc.startswith(f"{member}(") else doc
            assert text.strip(), f"{name}.{member}"
