# SPDX-License-Identifier: Apache-2.0
"""Reads the public headers: functions, structs, enums, macros. Knows the headers' own style, no C in general."""

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Function:
    name: str
    result: str
    comment: str
    header: Path
    line: int


@dataclass
class Record:
    """A struct with its fields, or an enum with its enumerators and their values' text."""
    kind: str
    name: str
    header: Path
    line: int
    members: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Header:
    path: Path
    text: str
    code: str  # the text with comments blanked, as long as the text
    functions: list[Function]
    records: list[Record]


def blank_comments(text: str) -> str:
    """Comments become spaces, so that offsets and line numbers stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _comment_before(text: str, offset: int) -> str:
    head = text[:offset].rstrip()
    return head[head.rfind("/**"):] if head.endswith("*/") else ""


def _functions(path: Path, text: str, code: str) -> list[Function]:
    found = []
    for match in re.finditer(r"\bHOIST_API\b(?:\s+HOIST_NODISCARD\b)?\s*([^;{(]*?)\b(\w+)\s*\([^;]*;", code):
        comment = _comment_before(text, match.start())
        found.append(Function(match.group(2), match.group(1).strip(), comment, path, line_of(code, match.start(2))))
    return found


def _fields(body: str) -> list[tuple[str, str]]:
    members = []
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declaration)
        plain = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", declaration)
        members.append(((pointer or plain).group(1), declaration))
    return members


def _enumerators(body: str) -> list[tuple[str, str]]:
    members = []
    for part in filter(None, (part.strip() for part in body.split(","))):
        name, _, value = part.partition("=")
        members.append((name.strip(), value.strip()))
    return members


def _records(path: Path, code: str) -> list[Record]:
    found = []
    for match in re.finditer(r"\btypedef\s+(struct|enum)\s+\w*\s*\{(.*?)\}\s*(\w+)\s*;", code, flags=re.S):
        kind, body, name = match.groups()
        members = _fields(body) if kind == "struct" else _enumerators(body)
        found.append(Record(kind, name, path, line_of(code, match.start()), members))
    return found


def read(path: Path) -> Header:
    text = path.read_text()
    code = blank_comments(text)
    return Header(path, text, code, _functions(path, text, code), _records(path, code))


def headers(root: Path) -> list[Header]:
    """Every public C header; none at all is an error."""
    paths = sorted((root / "include/hoist").glob("*.h"))
    if not paths:
        raise SystemExit(f"{root / 'include/hoist'}: no headers")
    return [read(path) for path in paths]
