# SPDX-License-Identifier: Apache-2.0
"""Files and functions stay short: headers 300 lines; capi 250 and 20 a function; src 400 and 40 a function."""

from pathlib import Path

import lizard

import common

LIMITS = (("include/", 300, None), ("capi/", 250, 20), ("src/", 400, 40))


def check(path: Path, lines: int, function_lines: int | None, findings: common.Findings) -> None:
    length = path.read_text().count("\n")
    if length > lines:
        findings.add(path, lines + 1, f"has {length} lines, at most {lines}: is there a second room in it?")
    if function_lines is None:
        return
    for function in lizard.analyze_file(str(path)).function_list:
        if function.length > function_lines:
            findings.add(path, function.start_line,
                         f"{function.name} has {function.length} lines, at most {function_lines}")


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    seen = 0
    for folder, lines, function_lines in LIMITS:
        for path in common.files(options.root, ".h", ".hpp", ".cpp", under=folder, required=False):
            seen += 1
            check(path, lines, function_lines, findings)
    if seen == 0:
        raise SystemExit(f"{options.root}: no sources to check")
    findings.exit()


if __name__ == "__main__":
    main()
