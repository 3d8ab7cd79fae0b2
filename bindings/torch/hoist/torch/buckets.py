# SPDX-License-Identifier: Apache-2.0
"""Varying shapes: a plan for each bucket of them, kept and served again as soon as a step of the bucket begins.

A bucket is the sizes of the first tensor that enters the model, each up to the next power of two. It gets a plan of its
own once STEPS steps in a row were of it: then times measured in it decide, medians of the last eight as they are.
"""

import warnings

import hoist
from hoist.torch import native

STEPS = 5


def require_plans_to_keep(manager) -> None:
    if manager.in_slots():
        raise ValueError("hoist.torch.offload: shape_buckets in slots, where a plan cannot be put back that was made before "
                         '(leave one of the two out; the placement "arena" keeps plans)')


class Buckets:
    def __init__(self, manager):
        self._manager = manager
        self._plans: dict[int, tuple] = {}  # bucket: a problem and its plan
        self._bucket = 0
        self._begun = 0  # steps of the budget when the present bucket's first step began
        self._asked = False  # for a plan of the present bucket, which the next step swaps in
        native.watch_buckets(manager.key)
        manager.after_steps(self._after_step)

    def __len__(self) -> int:
        """Buckets with a plan of their own."""
        return len(self._plans)

    def enter(self, bucket: int) -> None:
        """Before a step of another bucket than the last one's."""
        self._asked = False
        self._bucket, self._begun = bucket, self._manager.query().steps
        if bucket in self._plans:
            self._replan(*self._plans[bucket])
        elif self._manager.phase == hoist.Phase.SERVING:
            self._manager.native.replan_prepare(STEPS)

    def _replan(self, *plan) -> bool:
        try:
            self._manager.native.replan(*plan)
            return True
        except hoist.Error as error:
            warnings.warn(f"hoist.torch: the plan of a bucket of shapes is not served: {error}", stacklevel=3)
            return False

    def _after_step(self) -> bool:
        manager = self._manager
        if self._asked:
            self._asked = False
            self._plans[self._bucket] = (manager.native.problem(), manager.native.plan())
        elif self._bucket not in self._plans and manager.phase == hoist.Phase.SERVING:
            if manager.query().steps - self._begun >= STEPS:
                self._asked = self._replan()
        return False  # for as long as the model is offloaded
