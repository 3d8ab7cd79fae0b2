# SPDX-License-Identifier: Apache-2.0
"""wheel.py EXPECTED: builds the wheel, installs it into an environment of its own and runs scenario 3 there.

Minutes, since the wheel brings a library of its own: only where HOIST_TEST_ALL is set. 77: skipped.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], check=True, text=True, **options)


def main() -> int:
    if not os.environ.get("HOIST_TEST_ALL"):
        print("skipped: HOIST_TEST_ALL is not set")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder,
            ROOT / "bindings/python")
        site = Path(folder) / "site"
        run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, *Path(folder).glob("*.whl"))
        environment = {**os.environ, "PYTHONPATH": str(site)}
        environment.pop("LD_LIBRARY_PATH", None)
        printed = run(sys.executable, ROOT / "examples/python/03_scenario.py", env=environment, cwd=folder,
                      stdout=subprocess.PIPE).stdout
    print(printed)
    return printed != Path(sys.argv[1]).read_text()


if __name__ == "__main__":
    sys.exit(main())
