# SPDX-License-Identifier: Apache-2.0
"""Replans while serving: asked for between steps, applied at the next step's begin, nothing consumed.

While a graph holds a step there is no next begin: a plan is swapped in within the call, under the graph.
"""

import warnings
from dataclasses import dataclass

import hoist


@dataclass(frozen=True)
class ReplanStatus:
    """state: "idle" before any request, that of plan= included, "warming" and "measuring" while steps are run for one or
    its plan waits for the next step, then "done" or "failed"; can_request: whether a plan could be made now; applied: None before the first
    one's end, then whether the last one was; reason: why not; replay_generation: replays of captured steps so far;
    mispredicted_steps: of the last 16 that served, those that ran units in another order than planned."""

    state: str
    can_request: bool
    applied: "bool | None"
    reason: str
    replay_generation: int
    mispredicted_steps: int


class Replan:
    def __init__(self, manager):
        self._manager = manager
        self._asked = False
        self._failure = ""
        self._saved = None  # a problem and a plan of a file
        self._due = None  # steps of the budget after which a request is made, and of these the warm ones
        self._replays_seen = -1

    # --- what waits for steps ---

    def adopt(self, problem: hoist.Problem, plan: hoist.Plan) -> None:
        """Serves a saved plan from the step on at which the order of units is known."""
        self._saved = (problem, plan)
        self._manager.after_steps(self._adopt_if_known)

    def has_saved(self) -> bool:
        """Whether a saved plan waits for the order of units."""
        return self._saved is not None

    def request(self, warm: int, measure: int) -> int:
        if warm < 0 or measure < 0:
            raise ValueError(f"hoist.torch: request_replan(warm={warm}, measure={measure}) (give numbers of steps, 0 or more)")
        self._manager.settle()
        status = self._manager.native.replan_query()
        if not status.can_request or warm + measure == 0:
            return int(self._request())
        self._manager.native.replan_prepare(warm + measure)
        self._asked, self._failure = True, ""
        now = self._manager.native.query().steps
        waited = self._due is not None
        self._due = (now + warm, now + warm + measure)
        if not waited:
            self._manager.after_steps(self._request_if_due)
        return warm + measure + 1

    def _request(self) -> bool:
        self._due = None
        try:
            self._manager.native.replan()
        except hoist.Error as error:
            self._failed(f"no replan: {error}", str(error))
            return False
        self._asked, self._failure = True, ""
        return True

    def _failed(self, text: str, reason: str) -> None:
        self._failure = reason
        warnings.warn(f"hoist.torch: {text}; the old plan goes on", stacklevel=4)

    def _adopt_if_known(self) -> bool:
        if not self._manager.native.replan_query().can_request:
            return False
        (problem, plan), self._saved = self._saved, None
        try:
            self._manager.native.replan(problem, plan)
            self._asked = True
        except hoist.Error as error:
            self._failed(f"the saved plan is not served: {error}", str(error))
        return True

    def _request_if_due(self) -> bool:
        if self._due is not None and self._manager.native.query().steps >= self._due[1]:
            self._request()
        return self._due is None

    def update(self, replay_generation: "int | None") -> None:
        """Replays do not come by here: a request that waits for steps goes on where enough have been replayed."""
        if replay_generation is not None:
            if replay_generation <= self._replays_seen:
                return
            self._replays_seen = replay_generation
        self._request_if_due()

    # --- reads ---

    def status(self) -> ReplanStatus:
        now = self._manager.native.replan_query()
        failed = bool(self._failure) or now.state == hoist.ReplanState.FAILED
        if self._due is not None:
            state = "warming" if self._manager.native.query().steps < self._due[0] else "measuring"
        elif self.has_saved():
            state = "warming"
        elif now.state == hoist.ReplanState.PENDING:
            state = "measuring"
        elif failed:
            state = "failed"
        else:
            state = "done" if self._asked else "idle"
        applied = {"done": True, "failed": False}.get(state)
        return ReplanStatus(state, now.can_request, applied, self._failure or now.reason,
                            self._manager.native.replay_query().begun, self._manager.counters()["mispredicted_steps"])
