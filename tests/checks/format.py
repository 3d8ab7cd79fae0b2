# SPDX-License-Identifier: Apache-2.0
"""C and C++ sources are as clang-format writes them; --write makes them so."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import common


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="format the files")
    options = parser.parse_args()
    beside = Path(sys.executable).parent / "clang-format"
    tool = str(beside) if beside.exists() else shutil.which("clang-format")
    if tool is None:
        sys.exit("clang-format is not there: ./dev check sets it up")
    sources = [path for path in common.files(options.root, ".c", ".cpp", ".h", ".hpp")
               if "compat/v" not in str(path.relative_to(options.root))]
    mode = ["-i"] if options.write else ["--dry-run", "-Werror"]
    run = subprocess.run([tool, "--style=file", *mode, *map(str, sources)], capture_output=True, text=True,
                         cwd=options.root)
    for path, line in sorted(set(re.findall(r"^(.+?):(\d+):\d+: error: code should be clang-formatted",
                                            run.stderr, flags=re.M))):
        name = Path(path)
        print(f"{name.relative_to(options.root) if name.is_relative_to(options.root) else name}:{line}: "
              "not as clang-format writes it; ./dev format")
    if run.returncode != 0 and "clang-formatted" not in run.stderr:
        print(run.stderr)
    sys.exit(run.returncode)


if __name__ == "__main__":
    main()
