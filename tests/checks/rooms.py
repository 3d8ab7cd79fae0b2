# SPDX-License-Identifier: Apache-2.0
"""Includes go down only: a room of src/ sees the rooms below it, a backend sees the public table alone."""

import re
from pathlib import Path

import common
import contract

BELOW = {"base": set(), "device": {"base"}, "checkpoint": {"base"}, "plan": {"base"}, "backends": set()}
for _room in ("trace", "transfer", "memory"):
    BELOW[_room] = {"device", "base"}
BELOW["exec"] = {"plan", "trace", "transfer", "memory", "device", "base"}
BELOW["budget"] = BELOW["exec"] | {"exec"}
for _room in ("offload", "state", "symm", "effect", "scope"):
    BELOW[_room] = BELOW["budget"] | {"budget"}
BELOW["capi"] = set(BELOW)
OUTSIDE = set()  # tools, examples and bindings see the public headers, and nothing of the rooms

PUBLIC = {"base": {"status.h", "export.h"}, "plan": {"status.h", "export.h"}, "checkpoint": {"checkpoint.h", "status.h", "export.h"},
          "backends": {"device_ops.h", "device.h", "status.h", "export.h"}}


def room_of(path: Path, root: Path) -> str | None:
    """The room of a source; None where the rules do not apply."""
    parts = path.relative_to(root).parts
    if parts[0] == "src":
        return parts[1]
    return parts[0] if parts[0] in ("capi", "tools", "examples", "bindings") else None


def complaint(room: str, include: str) -> str | None:
    """Why this room may not have this include; None where it may."""
    top = include.split("/")[0]
    if top == "hoist":
        public = PUBLIC.get(room)
        return f"{room} may include of hoist/ only {', '.join(sorted(public))}" if public and \
            include.removeprefix("hoist/") not in public else None
    if top not in BELOW or top == room or "/" not in include:
        return None
    allowed = BELOW.get(room, OUTSIDE)
    return None if top in allowed else f"{room} may not see {top}, only {', '.join(sorted(allowed)) or 'hoist/'}"


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    seen = 0
    for path in common.files(options.root, ".c", ".cpp", ".h", ".hpp"):
        room = room_of(path, options.root)
        if room is None:
            continue
        seen += 1
        if room not in BELOW and path.relative_to(options.root).parts[0] == "src":
            findings.add(path, 1, f"room {room} is not known: give it a place in tests/checks/rooms.py")
        code = contract.blank_comments(path.read_text())
        for match in re.finditer(r'^\s*#\s*include\s*"([^"]+)"', code, flags=re.M):
            if why := complaint(room, match.group(1)):
                findings.add(path, contract.line_of(code, match.start(1)), f'includes "{match.group(1)}": {why}')
    if seen == 0:
        raise SystemExit(f"{options.root}: no sources to check")
    findings.exit()


if __name__ == "__main__":
    main()
