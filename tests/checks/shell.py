# SPDX-License-Identifier: Apache-2.0
"""Shell scripts are clean under shellcheck."""

import subprocess
import sys

import common


def main() -> None:
    options = common.parser(__doc__).parse_args()
    scripts = [path for path in common.files(options.root)
               if path.suffix == ".sh" or (path.suffix == "" and path.open("rb").readline().endswith(b"bash\n"))]
    if not scripts:
        sys.exit(f"{options.root}: no shell scripts to check")
    names = [str(path.relative_to(options.root)) for path in scripts]
    sys.exit(subprocess.run(["shellcheck", "-x", "--format=gcc", *names], cwd=options.root).returncode)


if __name__ == "__main__":
    main()
