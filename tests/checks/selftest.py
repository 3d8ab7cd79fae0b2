# SPDX-License-Identifier: Apache-2.0
"""Every gate is shown to hold on a good tree and to fail, naming file and line, on bad ones."""

import sys
from pathlib import Path

import pytest

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(Path(__file__).parent / "test_gates.py")]))
