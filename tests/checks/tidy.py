# SPDX-License-Identifier: Apache-2.0
"""Sources are clean under clang-tidy. What was found clean is remembered by content; --all forgets it."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common

FOLDERS = ("src/", "capi/", "tools/", "examples/")


def commands(root: Path, build: Path) -> dict[Path, str]:
    """Sources of ours with the command that compiles each."""
    database = build / "compile_commands.json"
    if not database.is_file():
        sys.exit(f"{database} is not there: ./dev build all makes it")
    found = {}
    for entry in json.loads(database.read_text()):
        path = Path(entry["file"])
        if path.is_relative_to(root) and str(path.relative_to(root)).startswith(FOLDERS):
            found[path] = entry["command"]
    if not found:
        sys.exit(f"{database} has no source of {', '.join(FOLDERS)}")
    return found


def includes(path: Path, folders: list[Path], seen: set[Path]) -> None:
    """Collects a source and what it includes of ours, in depth."""
    if path in seen:
        return
    seen.add(path)
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), flags=re.M):
        for folder in [path.parent, *folders]:
            if (folder / name).is_file():
                includes((folder / name).resolve(), folders, seen)
                break


def key(root: Path, path: Path, command: str, tool: str) -> str:
    """Everything that the verdict depends on; where the clone lies is not among it."""
    seen: set[Path] = set()
    includes(path, [Path(folder) for folder in re.findall(r"-I\s*(\S+)", command)], seen)
    command = command.replace(str(root), "")
    digest = hashlib.sha256((tool + command + (root / ".clang-tidy").read_text()).encode())
    for each in sorted(seen):
        digest.update(str(each).replace(str(root), "").encode() + each.read_bytes())
    return digest.hexdigest()


def run(tool: str, build: Path, path: Path) -> str:
    """What clang-tidy says; empty when the source is clean."""
    result = subprocess.run([tool, "-p", str(build), "--quiet", str(path)], capture_output=True, text=True)
    return result.stdout + result.stderr if result.returncode != 0 else ""


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--all", action="store_true", help="forget what was found clean")
    parser.add_argument("--home", type=Path, required=True, help="where clean verdicts are kept")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tool = shutil.which("clang-tidy") or sys.exit("clang-tidy is not there: ./dev check installs it")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    store = options.home / "tidy"
    store.mkdir(parents=True, exist_ok=True)
    root = options.root.resolve()
    todo = {path: store / key(root, path, command, version)
            for path, command in commands(root, options.build).items()}
    if not options.all:
        todo = {path: mark for path, mark in todo.items() if not mark.exists()}
    failed = False
    with ThreadPoolExecutor(options.jobs) as pool:
        for path, said in zip(todo, pool.map(lambda each: run(tool, options.build, each), todo)):
            if said:
                failed = True
                print(said.replace(f"{root}/", ""))
            else:
                todo[path].touch()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
