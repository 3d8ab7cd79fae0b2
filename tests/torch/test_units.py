# SPDX-License-Identifier: Apache-2.0
"""Which modules are units: automatic ones, patterns, exclusions."""

import re

import pytest
from torch import nn

import hoist.torch as ht
from models import Block, Stack


def names(model):
    return [unit.name for unit in ht.manager(model).units]


def test_lists_are_taken_apart(offload):
    model = offload(Stack())
    assert names(model) == ["embed", *(f"blocks.{i}" for i in range(6)), "head"]
    assert ht.manager(model).offload_units() == [model.embed, *model.blocks, model.head]
    assert ht.manager(model).resident_units() == [model]  # scale
    assert re.fullmatch(rf"<hoist.torch: {type(model).__name__}, \d+ units, discovery within \d+ bytes>", repr(ht.manager(model)))


def test_a_single_module_is_a_unit(offload):
    assert names(offload(nn.Linear(8, 8), "100%")) == ["Linear"]


def test_large_elements_that_hold_lists_are_split(offload):
    class Stage(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(Block(16) for _ in range(2))

    model = nn.Module()
    model.stages = nn.ModuleList(Stage() for _ in range(3))
    assert names(offload(model)) == [f"stages.{i}.blocks.{j}" for i in range(3) for j in range(2)]


@pytest.mark.parametrize("include, units", [
    (["name:blocks.*"], [f"blocks.{i}" for i in range(6)]),
    (["blocks.[13]", "head"], ["blocks.1", "blocks.3", "head"]),
    (["class:Linear"], [f"blocks.{i}.{name}" for i in range(6) for name in ("up", "down")] + ["head"]),
    (["class:Block", "class:Linear"], [f"blocks.{i}" for i in range(6)] + ["head"]),  # the outermost wins
    (["name:blocks.*.up.weight"], [f"blocks.{i}" for i in range(6)]),
])
def test_patterns(offload, include, units):
    assert names(offload(Stack(), "100%", include=include)) == units


def test_a_pattern_for_parameters_keeps_the_rest(offload):
    model = offload(Stack(), include=["name:blocks.*.weight"])
    assert all(slot.name == "weight" for slot in ht.manager(model).slots)
    assert set(ht.manager(model).resident_units()) == {m for m in model.modules() if any(True for _ in m.parameters(False))
                                                       and not isinstance(m, Block)}


def test_exclude_comes_after_include(offload):
    model = offload(Stack(), include=["blocks.*"], exclude=["name:blocks.2", "class:LayerNorm", "*.down.bias"])
    assert names(model) == [f"blocks.{i}" for i in (0, 1, 3, 4, 5)]
    assert {slot.path.split(".", 2)[2] for slot in ht.manager(model).slots} == {"up.weight", "up.bias", "down.weight"}


@pytest.mark.parametrize("include, text", [(["name:layers.*"], "matches no module"), (["kind:x"], 'use "name:" or "class:"')])
def test_patterns_that_cannot_be(include, text):
    with pytest.raises(ValueError, match=text):
        ht.offload(Stack(), device="host:0", include=include)
