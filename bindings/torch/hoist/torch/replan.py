# SPDX-License-Identifier: Apache-2.0
"""Replans while serving: asked for between steps, applied at the next step's begin, nothing consumed."""

import warnings
from dataclasses import dataclass

import hoist


@dataclass(frozen=True)
class ReplanStatus:
    """state: idle, warming, measuring, done or failed; applied: None before the first, then whether the last one was;
    reason: why not."""

    state: str
    can_request: bool
    applied: "bool | None"
    reason: str
    replay_generation: int


class Replan:
    def __init__(self, manager):
        self._manager = manager
        self._asked = False
        self._failure = ""
        self._generation = 0
        self._saved = None  # a problem and a plan of a file

    def adopt(self, problem: hoist.Problem, plan: hoist.Plan) -> None:
        """Serves a saved plan from the step on at which the order of units is known."""
        self._saved = (problem, plan)

    def request(self) -> int:
        native = self._manager.native
        self._manager.settle()
        try:
            native.replan()
        except hoist.Error as error:
            self._failure = str(error)
            warnings.warn(f"hoist.torch: no replan: {error}", stacklevel=3)
            return 0
        self._asked, self._failure = True, ""
        return 1

    def after_step(self) -> None:
        self._generation += 1
        if self._saved is None or not self._manager.native.replan_query().can_request:
            return
        problem, plan = self._saved
        self._saved = None
        try:
            self._manager.native.replan(problem, plan)
        except hoist.Error as error:
            self._failure = str(error)
            warnings.warn(f"hoist.torch: the saved plan is not served: {error}", stacklevel=4)

    def status(self) -> ReplanStatus:
        now = self._manager.native.replan_query()
        failed = bool(self._failure) or now.state == hoist.ReplanState.FAILED
        if now.state == hoist.ReplanState.PENDING:
            state = "measuring"
        elif failed:
            state = "failed"
        else:
            state = "done" if self._asked else "idle"
        applied = None if not self._asked and not failed or state == "measuring" else not failed
        return ReplanStatus(state, now.can_request, applied, self._failure or now.reason, self._generation)
