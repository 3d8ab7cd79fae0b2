# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone and twice in C11 and C++20, needs no CUDA and no C++; hoist.h includes them all."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common
import contract

OUTSIDE_UMBRELLA = {"hoist.h", "device_ops.h", "experimental.h", "export.h"}
SYSTEM_HEADERS = {"stddef.h", "stdint.h"}
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror", "-fsyntax-only"]
LANGUAGES = (("gcc", "c", "-std=c11"), ("g++", "c++", "-std=c++20"))


def compile_source(root: Path, source: str) -> list[str]:
    """What the compilers say."""
    said = []
    for compiler, language, standard in LANGUAGES:
        run = subprocess.run([compiler, "-x", language, standard, *STRICT, f"-I{root / 'include'}", "-"],
                             input=source, capture_output=True, text=True)
        if run.returncode != 0:
            said.append(f"does not compile with {compiler} {standard}:\n{run.stderr.rstrip()}")
    return said


def compile_alone(root: Path, header: Path) -> list[str]:
    """The header included twice and nothing before it."""
    return compile_source(root, f'#include "hoist/{header.name}"\n#include "hoist/{header.name}"\nextern int nothing_else;\n')


def check_includes(header: contract.Header, findings: common.Findings) -> None:
    for match in re.finditer(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', header.code, flags=re.M):
        line = contract.line_of(header.code, match.start())
        if match.group(1) == "<" and match.group(2) not in SYSTEM_HEADERS:
            findings.add(header.path, line, f"includes <{match.group(2)}>; only {', '.join(sorted(SYSTEM_HEADERS))}")
        if match.group(1) == '"' and not match.group(2).startswith("hoist/"):
            findings.add(header.path, line, f'includes "{match.group(2)}"; write "hoist/..."')


def check_initialisers(root: Path, found: list[contract.Header], findings: common.Findings) -> None:
    """HOIST_..._INIT must give no warning in a user's code, in either language."""
    for header in found:
        for match in re.finditer(r"#\s*define\s+(HOIST_\w+_INIT)\b.*?sizeof\((\w+)\)", header.code, flags=re.S):
            source = (f'#include "hoist/{header.path.name}"\nint use(void);\n'
                      f"int use(void) {{ {match.group(2)} made = {match.group(1)}; return made.struct_size == 0; }}\n")
            for message in compile_source(root, source):
                findings.add(header.path, contract.line_of(header.code, match.start()), f"{match.group(1)} {message}")


def check_umbrella(root: Path, found: list[contract.Header], findings: common.Findings) -> None:
    umbrella = root / "include/hoist/hoist.h"
    text = umbrella.read_text()
    for header in found:
        if header.path.name not in OUTSIDE_UMBRELLA and f'#include "hoist/{header.path.name}"' not in text:
            findings.add(umbrella, 1, f"does not include hoist/{header.path.name}")


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    found = contract.headers(options.root)
    with ThreadPoolExecutor(2) as pool:
        for header, said in zip(found, pool.map(lambda each: compile_alone(options.root, each.path), found)):
            for message in said:
                findings.add(header.path, 1, f"alone {message}")
    for header in found:
        check_includes(header, findings)
    check_initialisers(options.root, found, findings)
    check_umbrella(options.root, found, findings)
    findings.exit()


if __name__ == "__main__":
    main()
