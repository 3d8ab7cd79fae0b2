# SPDX-License-Identifier: Apache-2.0
"""Functions of the headers == names in capi/hoist.map == symbols that the library exports."""

import re
import subprocess
from pathlib import Path

import common
import contract


def in_map(path: Path) -> dict[str, tuple[int, str]]:
    """Name -> line and version node. Patterns would let a name slip out, so only names are allowed."""
    found: dict[str, tuple[int, str]] = {}
    node = ""
    section = "global"
    for number, line in enumerate(contract.blank_comments(path.read_text()).splitlines(), 1):
        line = line.split("#")[0].strip()
        if match := re.match(r"(HOIST_\d+\.\d+)\s*\{", line):
            node, section = match.group(1), "global"
        for token in re.findall(r"global:|local:|[\w*?\[\]]+(?=;)", line):
            if token.endswith(":"):
                section = token[:-1]
            elif section == "global":
                found[token] = (number, node)
    return found


def in_library(library: Path) -> dict[str, str]:
    """Name -> version node of every defined dynamic symbol, the nodes' own names apart."""
    listing = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)],
                             check=True, capture_output=True, text=True).stdout
    symbols = [(line.split()[1], line.split()[-1].partition("@@")) for line in listing.splitlines()]
    return {name: version for kind, (name, _, version) in symbols if kind != "A"}


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    map_path = options.root / "capi/hoist.map"
    library = options.build / "lib/libhoist.so.0"
    mapped, exported = in_map(map_path), in_library(library)
    declared = {function.name: function
                for header in contract.headers(options.root) for function in header.functions}
    for name, function in declared.items():
        if name not in mapped:
            findings.add(function.header, function.line, f"{name} is not in capi/hoist.map")
        if name not in exported:
            findings.add(function.header, function.line, f"{name} is not exported by {library.name}: is it defined?")
    for name, (line, node) in mapped.items():
        if name not in declared:
            findings.add(map_path, line, f"{name} is in no public header")
        elif exported.get(name, node) != node:
            findings.add(map_path, line, f"{name} is exported as {exported[name]}, not {node}")
    for name in exported.keys() - mapped.keys():
        findings.add(library, 0, f"exports {name}, which capi/hoist.map does not list")
    findings.exit()


if __name__ == "__main__":
    main()
