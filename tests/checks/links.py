# SPDX-License-Identifier: Apache-2.0
"""Links between pages lead somewhere, to the heading too, and so do the pages and files that headers and sources name."""

import re
from pathlib import Path

import common

LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
NAMED = re.compile(r"(?<![\w/.])((?:doc|tests|examples|tools|cmake)/[\w/.-]+\.(?:md|py|c|cpp|hpp|txt|sh))\b")
PLACEHOLDER = re.compile(r"(?:^|[/_-])(?:ROOM|SET|NAME|X)(?:[/_.-]|$)")
TEXTS = (".md", ".h", ".hpp", ".c", ".cpp", ".py", ".rs", ".txt", ".sh", "dev")


def prose(text: str) -> list[str]:
    """A page's lines; those of code are empty."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = re.match(r"\s*(```|~~~)", line)
        lines.append("" if mark or fence else line)
        if mark and fence in ("", mark.group(1)):
            fence = "" if fence else mark.group(1)
    return lines


def anchors(page: Path) -> set[str]:
    """What headings of a page are called in links."""
    found: dict[str, int] = {}
    for line in prose(page.read_text()):
        if heading := HEADING.match(line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            found[name] = found.get(name, -1) + 1
            if found[name]:
                found[f"{name}-{found[name]}"] = 0
    return set(found)


def check_link(path: Path, number: int, target: str, anchor: str, findings: common.Findings) -> None:
    page = path.parent / target if target else path
    if not page.exists():
        findings.add(path, number, f"links to {target}, which is not there")
    elif anchor and page.suffix == ".md" and anchor not in anchors(page):
        findings.add(path, number, f"links to {target}#{anchor}, but there is no such heading")


def check(root: Path, path: Path, findings: common.Findings) -> None:
    text = path.read_text()
    for number, line in enumerate(prose(text) if path.suffix == ".md" else [], 1):
        for target, anchor in LINK.findall(line):
            if target or anchor:
                check_link(path, number, target, anchor, findings)
    for number, line in enumerate(text.splitlines(), 1):
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
