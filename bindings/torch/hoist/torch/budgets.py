# SPDX-License-Identifier: Apache-2.0
"""What a budget is for a model: bytes for all of it, a share of what streams, or what computing hides (None)."""

import json
import os
import weakref

import hoist

SLACK = 1.01  # a step may take so much longer than its compute and still count as hidden
KEYS = ("budget", "budget_bytes", "budget_share")
STEPS = 7  # halvings of the interval of budgets
ROOM = 0.9  # of free device memory, for a first plan that keeps everything


class ModelBudget:
    """A budget that a model has made, or joined."""

    def __init__(self, device: hoist.Device, budget, options: dict):
        self._device = device
        self.joined = isinstance(budget, hoist.Budget)
        self.hides = budget is None and not any(key in options or f"HOIST_{key.upper()}" in os.environ for key in KEYS)
        if self.joined and options:
            raise ValueError("hoist.torch.offload: options of a budget that is there already (set them where it is made)")
        self.native = budget if self.joined else hoist.Budget(device, **self._options(budget, options))
        self._reserved = [0]  # bytes of loose parameters and buffers, which count against a budget of bytes
        self._room = 0  # that a first plan was given for want of more
        self.end = weakref.finalize(self, _release, self.native, self._reserved)
        self.end.atexit = False

    def _options(self, budget, options: dict) -> dict:
        return options if budget is None else {**options, "budget": str(budget)}

    def start(self, residents: int) -> None:
        """Before the commit: what lies beside the streamed tensors counts for all who joined."""
        self.native.reserve(residents)
        self._reserved[0] += residents

    def explain(self, error: hoist.errors.InfeasibleError) -> hoist.errors.InfeasibleError:
        if not self._reserved[0]:
            return error
        more = f"; loose parameters and buffers take {self._reserved[0]} bytes beside them"
        return type(error)(error.code, error.name, error.message + more, error.where, error.hint)

    def _set_streamed(self, streamed: int) -> None:
        """So many bytes for tensors and workspaces, beside what is reserved."""
        self.native.set_bytes(streamed + self.native.query().reserved_bytes)

    def keep_all_that_fits(self, streamed: int) -> None:
        """The first plan of a budget that is to be found: everything, or what the device has room for."""
        room = int(self._device.query_memory()[0] * ROOM)
        if self.hides and 0 < room < streamed:
            self._room = room
            self._set_streamed(room)

    def set(self, budget, manager: hoist.Manager) -> None:
        """A budget as offload takes it."""
        if budget is None:
            return self.find(manager)
        try:
            self.native.set(str(budget))
        except hoist.errors.InfeasibleError as error:
            raise self.explain(error) from None

    def find(self, manager: hoist.Manager) -> None:
        """The smallest budget under which a step takes no longer than its compute."""
        everything = manager.query().tensor_bytes
        most = min(everything, self._room or everything)
        found = smallest_hidden(manager.problem(), most)
        self.native.set_share(1.0) if found == everything else self._set_streamed(found)


def _release(budget: hoist.Budget, reserved: list) -> None:
    """What a model reserved is the budget's again."""
    budget.release(reserved[0])
    reserved[0] = 0


def smallest_hidden(problem: hoist.Problem, most: int) -> int:
    """Budget bytes; the most where nothing less hides behind the units' compute."""
    facts = json.loads(problem.json())
    compute = sum(unit["compute_us"] for unit in facts["units"])
    low, high = 0, most

    def hidden(budget_bytes: int) -> bool:
        other = hoist.Problem(json.dumps({**facts, "device": {**facts["device"], "budget_bytes": budget_bytes}}))
        try:
            if other.bound().bound_us > SLACK * compute:
                return False
            return hoist.Plan.solve(other).simulate(other).step_us <= SLACK * compute
        except hoist.errors.InfeasibleError:
            return False

    for _ in range(STEPS):
        middle = (low + high) // 2
        low, high = (low, middle) if hidden(middle) else (middle, high)
    return high
