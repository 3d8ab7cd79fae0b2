# SPDX-License-Identifier: Apache-2.0
"""Which modules are units, and which tensors of them stream: patterns, or the lists that the model is made of.

A pattern is a glob, with "name:" (or nothing) for paths and "class:" for class names. For modules `*` is one segment of
a path; for parameters and in `exclude` it is any part of it. Of modules that match, the outermost is the unit.
"""

import fnmatch
import re
from dataclasses import dataclass

from torch import nn

SPLIT_SHARE = 8  # an element of a list that holds lists itself is split where it has more than 1/8 of all bytes


@dataclass
class Choice:
    """A unit to be: its path, its module, and which of its parameters stream (None: all)."""

    name: str
    module: nn.Module
    parameters: "list[str] | None" = None


def _parse(pattern: str) -> tuple[str, str]:
    kind, colon, glob = pattern.partition(":")
    if not colon:
        return "name", pattern
    if kind not in ("name", "class"):
        raise ValueError(f'hoist.torch.offload: pattern "{pattern}" begins with "{kind}:" (use "name:" or "class:")')
    return kind, glob


def _by_segment(name: str, glob: str) -> bool:
    names, globs = name.split("."), glob.split(".")
    return len(names) == len(globs) and all(map(fnmatch.fnmatchcase, names, globs))


def _anywhere(name: str, glob: str) -> bool:
    """`*` is one or more characters, dots included; what lies below a match matches, too."""
    expression = re.escape(glob).replace(r"\*", ".+").replace(r"\?", ".")
    return re.fullmatch(rf"{expression}(\..+)?", name) is not None


def _selects(pattern: str, name: str, module: nn.Module) -> bool:
    kind, glob = _parse(pattern)
    if kind == "class":
        return any(fnmatch.fnmatchcase(base.__name__, glob) for base in type(module).__mro__[:-1])
    return _by_segment(name, glob)


class Excluded:
    """Says of a module or parameter whether a pattern keeps it on the device for good."""

    def __init__(self, model: nn.Module, patterns):
        self._globs = [glob for kind, glob in map(_parse, patterns) if kind == "name"]
        classes = [glob for kind, glob in map(_parse, patterns) if kind == "class"]
        for name, module in model.named_modules():
            if any(fnmatch.fnmatchcase(type(module).__name__, glob) for glob in classes):
                self._globs.append(name)

    def __call__(self, name: str) -> bool:
        return any(_anywhere(name, glob) for glob in self._globs)


def bytes_of(module: nn.Module) -> int:
    return sum(p.numel() * p.element_size() for p in module.parameters())


def _holds_lists(module: nn.Module) -> bool:
    return any(isinstance(m, (nn.ModuleList, nn.ModuleDict, nn.Sequential)) and len(m) > 1 for m in module.modules())


def _automatic(name: str, module: nn.Module, limit: int, found: list[Choice]) -> None:
    """A module that holds lists is taken apart; an element of a list is a unit, and so is what stands beside lists."""
    for child_name, child in module.named_children():
        path = f"{name}.{child_name}" if name else child_name
        if next(child.parameters(), None) is None:
            continue
        is_list = isinstance(child, (nn.ModuleList, nn.ModuleDict, nn.Sequential))
        in_list = isinstance(module, (nn.ModuleList, nn.ModuleDict, nn.Sequential))
        whole = in_list and bytes_of(child) <= limit
        if is_list or (_holds_lists(child) and not whole):
            _automatic(path, child, limit, found)
        else:
            found.append(Choice(path, child))


def _outermost(choices: list[Choice]) -> list[Choice]:
    names = {choice.name for choice in choices}

    def inside(name: str) -> bool:
        parts = name.split(".")
        return any(".".join(parts[:i]) in names for i in range(1, len(parts)))

    return [choice for choice in choices if not inside(choice.name)]


def choose(model: nn.Module, include, excluded: Excluded) -> list[Choice]:
    automatic: list[Choice] = []
    _automatic("", model, bytes_of(model) // SPLIT_SHARE, automatic)
    if not automatic:
        automatic = [Choice("", model)]
    if include is None:
        chosen = automatic
    else:
        chosen = _included(model, include, automatic)
    seen: set[int] = set()
    kept = []
    for choice in _outermost(chosen):
        if not excluded(choice.name) and id(choice.module) not in seen:
            seen.add(id(choice.module))
            kept.append(choice)
    return kept


def _included(model: nn.Module, include, automatic: list[Choice]) -> list[Choice]:
    chosen = []
    for pattern in include:
        modules = [Choice(name, module) for name, module in model.named_modules()
                   if _selects(pattern, name, module) and next(module.parameters(), None) is not None]
        kind, glob = _parse(pattern)
        names = [name for name, _ in model.named_parameters() if kind == "name" and _anywhere(name, glob)]
        if modules:
            chosen += modules
        elif names:
            chosen += [Choice(unit.name, unit.module, mine) for unit in automatic
                       if (mine := [name for name in names if not unit.name or name.startswith(unit.name + ".")])]
        else:
            raise ValueError(f'hoist.torch.offload: include "{pattern}" matches no module with parameters and no parameter')
    return chosen
