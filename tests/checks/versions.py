# SPDX-License-Identifier: Apache-2.0
"""One version everywhere: VERSION, version.h, CHANGELOG.md, hoist.map's newest node, the Python and Rust packages; and
until its level is released, what tests/compat keeps of it is what there is today."""

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


def expect_kept(root: Path, kept: Path, origin: Path, mend: str, findings: common.Findings) -> None:
    """Headers and sources of a level that is still open follow their origins, both ways."""
    names = {path.name for folder in (kept, origin) for path in folder.glob("*.[ch]")}
    for name in sorted(names):
        ours, theirs = kept / name, origin / name
        if not ours.is_file() or not theirs.is_file():
            findings.add(ours, 1, f"is in only one of {kept.relative_to(root)} and {origin.relative_to(root)}: {mend}")
        elif ours.read_text() != theirs.read_text():
            pairs = zip(ours.read_text().splitlines() + [""], theirs.read_text().splitlines() + [""])
            line = next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 1)
            findings.add(ours, line, f"lags behind {theirs.relative_to(root)}: {mend}")


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
    level_open = re.search(r"^## \S+ \(not released\)", (root / "CHANGELOG.md").read_text(), flags=re.M)
    kept = root / f"tests/compat/v{level.replace('.', '_')}"
    if level_open:
        expect_kept(root, kept / "include/hoist", root / "include/hoist",
                    f"cp include/hoist/*.h {kept.relative_to(root)}/include/hoist/", findings)
        expect_kept(root, kept / "plugin", root / "examples/c/06_my_device",
                    f"tests/compat/keep_plugin.sh {kept.relative_to(root)}", findings)
    findings.exit()


if __name__ == "__main__":
    main()
