# SPDX-License-Identifier: Apache-2.0
"""Steps in CUDA graphs: torch.cuda.graph around a model that serves. What cannot be in one is refused with its reason.

The core puts the step into the graph (hoist/graph.h); what is here is what torch's side of a step adds to it.
"""

import warnings

import torch


def require_capturable(manager) -> None:
    """Before a step of an uncompiled model is captured."""
    if torch.is_grad_enabled():
        refuse_gradients()
    require_serving(manager)
    if manager.awaits_backward():
        raise RuntimeError("hoist.torch: a forward with gradients has left its step open, which the capture would have to "
                           "end (call manager(model).settle() before it)")
    if not manager.in_slots():
        warnings.warn("hoist.torch: a step is captured over an arena: replans, budgets and suspend are refused while the "
                      'graph is used (offload with placement="slots" to have them)', stacklevel=6)



def refuse_gradients() -> None:
    raise NotImplementedError("hoist.torch: a captured step with gradients, which are brought to the host while the graph is made "
                              "and never after (capture under torch.no_grad(), or train without a graph)")


def require_serving(manager) -> None:
    if left := manager.steps_before_serving:
        raise RuntimeError(f"hoist.torch: a step is captured {left} steps before the model serves: no plan of measured times "
                           "is there, and replays are not measured (run as many as manager(model).steps_before_serving first)")


def require_for_trees(manager) -> None:
    """Before a model is compiled with mode="reduce-overhead", which captures its second call, whatever that is."""
    if manager.device.type != "cuda":
        return  # torch makes no graphs there
    where = 'hoist.torch: mode="reduce-overhead" captures steps by itself'
    if left := manager.steps_before_serving:
        raise RuntimeError(f"{where}, and the model serves in {left} steps only (run as many as "
                           "manager(model).steps_before_serving, then compile)")
    if not manager.in_slots():
        raise RuntimeError(f"{where}, and over an arena no other plan could be served ever after (offload with "
                           'placement="slots")')
