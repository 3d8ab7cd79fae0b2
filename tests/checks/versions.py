# SPDX-License-Identifier: Apache-2.0
"""One version everywhere: VERSION, version.h, CHANGELOG.md, hoist.map's newest node, the Python and Rust packages."""

import re
from pathlib import Path

import common

PACKAGES = ("bindings/python/pyproject.toml", "bindings/rust/Cargo.toml", "bindings/rust/*/Cargo.toml")


def expect(path: Path, pattern: str, wanted: str, findings: common.Findings) -> None:
    """The first match's groups, joined by dots, must be the wanted version."""
    text = path.read_text()
    match = re.search(pattern, text, flags=re.M | re.S)
    got = ".".join(match.groups()) if match else "nothing"
    if got != wanted:
        line = text.count("\n", 0, match.start(1)) + 1 if match else 1
        findings.add(path, line, f"says version {got}, VERSION says {wanted}")


def main() -> None:
    options = common.parser(__doc__).parse_args()
    root = options.root
    findings = common.Findings(root)
    version = (root / "VERSION").read_text().strip()
    level = ".".join(version.split(".")[:2])
    expect(root / "include/hoist/version.h", r"_MAJOR (\d+).*?_MINOR (\d+).*?_PATCH (\d+)", version, findings)
    expect(root / "CHANGELOG.md", r"^## (\d+)\.(\d+)\.(\d+)", version, findings)
    expect(root / "capi/hoist.map", r"^HOIST_(\d+)\.(\d+) \{(?!.*^HOIST_)", level, findings)
    for pattern in PACKAGES:
        for path in sorted(root.glob(pattern)):
            if re.search(r"^version = \"", path.read_text(), flags=re.M):
                expect(path, r'^version = "([^"]+)"', version, findings)
    findings.exit()


if __name__ == "__main__":
    main()
