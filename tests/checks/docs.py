# SPDX-License-Identifier: Apache-2.0
"""Doxygen finds every public item documented, and every page and reference in order."""

import re
import subprocess
import sys

import common


def main() -> None:
    options = common.parser(__doc__).parse_args()
    out = options.build / "doc"
    out.mkdir(parents=True, exist_ok=True)
    config = (options.root / "doc/Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {out.resolve()}\nGENERATE_HTML = NO\nGENERATE_XML = YES\n"
    run = subprocess.run(["doxygen", "-"], input=config, capture_output=True, text=True, cwd=options.root)
    if run.returncode != 0:
        print(re.sub(rf"^{re.escape(str(options.root))}/", "", run.stderr, flags=re.M))
        sys.exit(1)
    seen = len(list((out / "xml").glob("*_8h.xml")))
    if seen == 0:
        sys.exit("doc/Doxyfile: doxygen saw no header")


if __name__ == "__main__":
    main()
