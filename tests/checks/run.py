# SPDX-License-Identifier: Apache-2.0
"""Runs the gates, several at once, and says for each whether it holds. Called by ./dev check."""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The long one first. Each is a script of that name beside this file.
GATES = ("tidy", "selftest", "docs", "abi", "format", "headers", "hygiene", "layout", "links", "names", "rooms", "shell", "sizes",
         "snippets", "symbols", "versions", "words")


def run(gate: str, options: argparse.Namespace) -> tuple[str, int, float, str]:
    begin = time.monotonic()
    arguments = ["--build", str(options.build.resolve())]
    if gate == "tidy":
        arguments += ["--home", str(options.home), "--jobs", str(options.jobs)] + ["--all"] * options.all
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([sys.executable, str(HERE / f"{gate}.py"), *arguments], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return gate, result.returncode, time.monotonic() - begin, result.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("gates", nargs="*", help="only these")
    options = parser.parse_args()
    unknown = sorted(set(options.gates) - set(GATES))
    if unknown:
        sys.exit(f"no gate {unknown[0]!r}; there are: {', '.join(sorted(GATES))}")
    chosen = options.gates or GATES
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in as_completed([pool.submit(run, gate, options) for gate in chosen]):
            gate, code, seconds, said = done.result()
            failed += code != 0
            print(f"{'ok  ' if code == 0 else 'FAIL'}  {gate:<10} {seconds:6.1f} s", flush=True)
            if code != 0:
                print(said.rstrip(), flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} gates hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
