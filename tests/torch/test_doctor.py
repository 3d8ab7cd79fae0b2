# SPDX-License-Identifier: Apache-2.0
"""What hoist.torch needs of torch is there."""

import subprocess
import sys


def test_doctor_finds_all():
    done = subprocess.run([sys.executable, "-m", "hoist.torch", "doctor"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()[1:]]
    assert len(lines) > 6 and {state for state, name in lines if "CUDA" not in name} == {"native", "patched"}
