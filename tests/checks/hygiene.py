# SPDX-License-Identifier: Apache-2.0
"""Every source says its licence; no tracked file names a path of a machine or the host of a package registry."""

import re
from pathlib import Path

import common

SOURCES = (".c", ".cpp", ".h", ".hpp", ".hpp.in", ".cu", ".py", ".rs", ".sh", ".cmake", ".cmake.in", "CMakeLists.txt",
           "/dev", ".ci/run")
# Written in pieces, since this file is checked too.
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:" + "|".join(["ho" + "me", "ro" + "ot", "wo" + "rk", "Us" + "ers"])
                          + r")/[\w.-]+")
REGISTRY = re.compile("|".join(re.escape(host) for host in (
    "pypi" + ".org", "pythonhosted" + ".org", "crates" + ".io", "rust-lang" + ".org", "npmjs" + ".org",
    "deb.debian" + ".org", "archive.ubuntu" + ".com", "huggingface" + ".co", "docker" + ".io", "proxy.golang" + ".org")))
# What cargo writes into its lock file is the name of its registry's index.
MAY_NAME_REGISTRY = ("Cargo.lock",)


def check(path: Path, findings: common.Findings) -> None:
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return
    if str(path).endswith(SOURCES) and not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        findings.add(path, 1, "does not say SPDX-License-Identifier: Apache-2.0 in its first three lines")
    for number, line in enumerate(lines, 1):
        if match := MACHINE_PATH.search(line):
            findings.add(path, number, f"names a path of a machine: {match.group()}")
        if (match := REGISTRY.search(line)) and path.name not in MAY_NAME_REGISTRY:
            findings.add(path, number, f"names the host of a package registry: {match.group()}")


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    for path in common.files(options.root):
        check(path, findings)
    findings.exit()


if __name__ == "__main__":
    main()
