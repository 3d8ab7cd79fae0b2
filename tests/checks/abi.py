# SPDX-License-Identifier: Apache-2.0
"""The library's ABI is the recorded one, capi/abi/libhoist.abi; any difference that abidiff sees is a failure.

--record writes the record anew: for additions, and until 0.1 is released for changes.
"""

import re
import subprocess
import sys
from pathlib import Path

import common

RECORD = "capi/abi/libhoist.abi"
SUPPRESSIONS = "capi/abi/suppressions.ini"
# Only what the public headers define counts, and nothing of the machine that recorded.
DUMP = ["--exported-interfaces-only", "--drop-private-types", "--no-comp-dir-path", "--no-corpus-path",
        "--no-show-locs", "--no-architecture", "--no-elf-needed", "--no-parameter-names"]


def dump(root: Path, library: Path, out: Path) -> None:
    subprocess.run(["abidw", *DUMP, "--headers-dir", str(root / "include/hoist"), "--out-file", str(out),
                    str(library)], check=True)
    out.write_text(re.sub(r" path='[^']*/", " path='", out.read_text()))


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--record", action="store_true", help="write the record")
    options = parser.parse_args()
    library = options.build / "lib/libhoist.so.0"
    record = options.root / RECORD
    if options.record:
        dump(options.root, library.resolve(), record)
        print(f"recorded {RECORD}")
        return
    if not record.is_file():
        sys.exit(f"{RECORD}:1: is missing; ./dev abi-record writes it")
    current = options.build / "libhoist.abi"
    dump(options.root, library.resolve(), current)
    run = subprocess.run(["abidiff", "--suppressions", str(options.root / SUPPRESSIONS), str(record), str(current)],
                         capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{RECORD}:1: the library's ABI differs (abidiff: {run.returncode}); "
              f"after an addition: ./dev abi-record\n{run.stdout}{run.stderr}")
        sys.exit(1)


if __name__ == "__main__":
    main()
