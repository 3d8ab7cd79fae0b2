# SPDX-License-Identifier: Apache-2.0
"""Every public struct, field and enumerator is frozen by an assert in capi/abi/layout_0.c, and all of them hold.

--write adds asserts for what is new; what is there is never rewritten: that is what frozen means.
"""

import re
import subprocess
import tempfile
from pathlib import Path

import common
import contract

LAYOUT = "capi/abi/layout_0.c"


def wanted(found: list[contract.Header]) -> list[tuple[str, contract.Record]]:
    """The expressions that must be frozen, each with the record that it is about."""
    expressions = []
    for header in found:
        for record in header.records:
            if record.kind == "enum":
                expressions += [(name, record) for name, _ in record.members]
                continue
            expressions.append((f"sizeof({record.name})", record))
            expressions += [(f"offsetof({record.name}, {name})", record) for name, _ in record.members]
    return expressions


def frozen(layout: Path) -> set[str]:
    return set(re.findall(r"^FROZEN\((.+), (?:0x)?[0-9a-f]+\);", layout.read_text(), flags=re.M))


def compile_layout(root: Path, layout: Path) -> str:
    run = subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", f"-I{root / 'include'}", str(layout)],
                         capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def values(root: Path, expressions: list[str]) -> list[str]:
    prints = "".join(f'  printf("%llu\\n", (unsigned long long)({each}));\n' for each in expressions)
    source = ('#include <stdio.h>\n#include "hoist/device_ops.h"\n#include "hoist/hoist.h"\n'
              f"int main(void) {{\n{prints}  return 0;\n}}\n")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "values"
        subprocess.run(["gcc", "-std=c11", f"-I{root / 'include'}", "-x", "c", "-", "-o", str(program)],
                       input=source, text=True, check=True)
        return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split()


def write(root: Path, layout: Path, missing: list[tuple[str, contract.Record]]) -> None:
    expressions = [expression for expression, _ in missing]
    text, last = layout.read_text().rstrip("\n"), ""
    for (expression, record), value in zip(missing, values(root, expressions)):
        if record.name != last:
            text += f"\n\n/* {record.name}, {record.header.name} */"
            last = record.name
        text += f"\nFROZEN({expression}, {value});"
    layout.write_text(text + "\n")


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="add asserts for what is new")
    options = parser.parse_args()
    findings = common.Findings(options.root)
    layout = options.root / LAYOUT
    expressions = wanted(contract.headers(options.root))
    known = frozen(layout)
    missing = [each for each in expressions if each[0] not in known]
    if options.write and missing:
        write(options.root, layout, missing)
        missing = []
    for expression, record in missing:
        findings.add(record.header, record.line, f"{expression} has no assert in {LAYOUT}; see layout.py --write")
    if said := compile_layout(options.root, layout):
        findings.add(layout, 1, f"the frozen layout does not hold:\n{said}")
    findings.exit()


if __name__ == "__main__":
    main()
