# SPDX-License-Identifier: Apache-2.0
"""Plans in files, with what they are for; a plan for something else is refused with its reason."""

import json
import os

import hoist
from hoist.torch import compat
from hoist.torch.manager import manager

FORMAT = 1


def _fingerprint(whole) -> dict:
    """What a plan depends on: the model's layout, the device and its memory's alignment, the shapes are the times'."""
    properties = whole.native_device.query()
    return {"format": FORMAT, "hoist": hoist.__version__, "torch": ".".join(map(str, compat.VERSION)),
            "model": f"{whole.key >> 16:012x}", "device": properties.name, "description": properties.description,
            "alignment": properties.alignment,
            "units": [[unit.name, [[slot.path, list(slot.parameter.shape), str(slot.parameter.dtype)]
                                   for slot in unit.slots]] for unit in whole.units]}


def save_plan(model, path) -> None:
    """Writes the plan that the model serves, with the problem that it is for and a fingerprint of both."""
    whole = manager(model)
    if whole is None:
        raise ValueError("hoist.torch.save_plan: the model is not offloaded (its plan goes with it: save before release())")
    whole.settle()
    if whole.phase != hoist.Phase.SERVING:
        left = whole.steps_before_serving + 1
        raise RuntimeError(f"hoist.torch.save_plan: the model's phase is {whole.phase.name.lower()}: it serves no plan of measured times "
                           + ("(resume it first)" if whole.phase == hoist.Phase.SUSPENDED else f"(run {left} more steps first)"))
    text = json.dumps({"fingerprint": _fingerprint(whole), "problem": json.loads(whole.native.problem().json()),
                       "plan": json.loads(whole.native.plan().json())})
    temporary = f"{os.fspath(path)}.tmp"
    with open(temporary, "w") as file:
        file.write(text)
    os.replace(temporary, path)


def load_plan(model, path) -> None:
    """Notes a plan of save_plan, to be served as soon as an order of units is known."""
    whole = manager(model)
    try:
        _adopt(whole, path)
    except BaseException:
        whole.release()
        raise


def _adopt(whole, path) -> None:
    with open(path) as file:
        try:
            saved = json.load(file)
            theirs_of = dict(saved["fingerprint"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"hoist.torch.offload: {os.fspath(path)} holds no plan of save_plan: {type(error).__name__}: {error} "
                             "(leave plan= out, serve, and save a new one)") from None
    for name, mine in _fingerprint(whole).items():
        theirs = theirs_of.get(name)
        if theirs != mine:
            raise ValueError(f"hoist.torch.offload: the plan in {os.fspath(path)} is for another {name}: {_short(theirs)}, "
                             f"here {_short(mine)} (leave plan= out, serve, and save a new one)")
    problem = hoist.Problem(json.dumps(saved["problem"]))
    whole.replan.adopt(problem, hoist.Plan(problem, json.dumps(saved["plan"])))


def _short(value) -> str:
    text = json.dumps(value)
    return text if len(text) < 200 else text[:200] + "..."


