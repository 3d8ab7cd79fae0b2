# SPDX-License-Identifier: Apache-2.0
"""A bar, or a call, while the bytes of a model are read and packed."""

import sys
import time

EVERY_S = 0.1


class Progress:
    """shown: True for a bar on stderr, or a function (bytes done, bytes in all); counts what has been packed."""

    def __init__(self, shown, total: int):
        self._show = _Bar(total) if shown is True else shown or None
        self._total, self._done = total, 0

    def add(self, count: int) -> None:
        self._done += count
        if self._show is not None:
            self._show(self._done, self._total)


class _Bar:
    def __init__(self, total: int):
        self._begun = time.monotonic()
        self._next = self._begun
        self._total = total

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next and done < total:
            return
        self._next = now + EVERY_S
        filled = 30 * done // max(total, 1)
        rate = done / 1e9 / max(now - self._begun, 1e-9)
        sys.stderr.write(f"\r{'#' * filled:<30} {done / 1e9:.2f} of {total / 1e9:.2f} GB, {rate:.1f} GB/s"
                         + ("\n" if done >= total else ""))
        sys.stderr.flush()
