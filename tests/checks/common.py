# SPDX-License-Identifier: Apache-2.0
"""What the gates share: the files of the tree and findings with file and line."""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every gate takes; self-tests point --root at a tree of their own."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--root", type=Path, default=ROOT, help="tree to check")
    result.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    return result


def files(root: Path, *suffixes: str, under: str = "", required: bool = True) -> list[Path]:
    """Files of the tree that are no build outputs, as git sees them. None at all is an error: a gate must see."""
    if (root / ".git").exists():
        listing = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
            check=True, capture_output=True, text=True).stdout
        names = sorted(filter(None, listing.split("\0")))
    else:
        names = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    chosen = [root / name for name in names
              if name.startswith(under) and (not suffixes or name.endswith(suffixes)) and (root / name).is_file()]
    if required and not chosen:
        sys.exit(f"{root / under}: no files {' '.join(suffixes)} to check")
    return chosen


class Findings:
    """Collects what is wrong, prints it as file:line: message."""

    def __init__(self, root: Path):
        self.root = root
        self.lines: list[str] = []

    def add(self, path: Path, line: int, message: str) -> None:
        name = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        self.lines.append(f"{name}:{line}: {message}")

    def exit(self) -> None:
        for line in self.lines:
            print(line)
        sys.exit(1 if self.lines else 0)
