# SPDX-License-Identifier: Apache-2.0
"""Links between pages lead somewhere, and so do the pages and files that headers and sources name."""

import re
from pathlib import Path

import common

LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)[^)]*\)")
NAMED = re.compile(r"(?<![\w/.])((?:doc|tests|examples|tools|cmake)/[\w/.-]+\.(?:md|py|c|cpp|hpp|txt|sh))\b")
PLACEHOLDER = re.compile(r"(?:^|[/_-])(?:ROOM|SET|NAME|X)(?:[/_.-]|$)")
TEXTS = (".md", ".h", ".hpp", ".c", ".cpp", ".py", ".rs", ".txt", ".sh", "dev")


def check(root: Path, path: Path, findings: common.Findings) -> None:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        links = LINK.findall(line) if path.suffix == ".md" else []
        for link in links:
            if not (path.parent / link).exists():
                findings.add(path, number, f"links to {link}, which is not there")
        for name in NAMED.findall(line):
            if not (root / name).exists() and not PLACEHOLDER.search(name):
                findings.add(path, number, f"names {name}, which is not there")


def main() -> None:
    options = common.parser(__doc__).parse_args()
    findings = common.Findings(options.root)
    for path in common.files(options.root, *TEXTS):
        if not path.is_relative_to(options.root / "tests/checks"):
            check(options.root, path, findings)
    findings.exit()


if __name__ == "__main__":
    main()
