# SPDX-License-Identifier: Apache-2.0
"""The manager of an offloaded model: steps, what users ask it, and its end."""

import contextlib
import threading
import warnings
import weakref

import torch

import hoist
from hoist.torch import compat, graphs, hooks, native, training
from hoist.torch import compile as compiling
from hoist.torch.nested import first_tensor, leaves
from hoist.torch.parameters import Parameters
from hoist.torch.replan import Replan


class ModelManager:
    """What hoist.torch.manager(model) gives."""

    def __init__(self, model, device: torch.device, native_device, budgeted):
        self.model = model
        self.device = device
        self.native_device = native_device
        self.budgeted = budgeted
        self.native = hoist.Manager(native_device, budgeted.native)
        self.key = 0  # what graphs carry, once the units are known
        self.units: list = []
        self.slots: list = []
        self.items: list = []
        self.backward_offset = 0
        self.backward = training.Backward(self)
        self.replan = Replan(self)
        self.token = None
        self.spare_token = torch.empty(1, dtype=torch.uint8, device=device)
        self.sends_gradients = device.type != "cpu"  # their parameters are in host memory
        self._step = None  # the forward's that is open
        self.goes_back = False  # whether a backward may come of it
        self.manual = None  # units by hand, see manual.py
        self.finish_manual = None
        self.buckets = None  # plans by shapes, see buckets.py
        self._waiting: list = []
        self._owner = None  # the thread that is inside the model's forward
        self._inference = False
        self.parameters = Parameters(self)
        self.handles: list = []  # of hooks that torch keeps
        self.forget = lambda: None  # all that others know of the model
        self.released = False

    def take_key(self, base: int) -> None:
        """The model has a number from now on, until its end or until nobody knows the manager any more."""
        self.key = native.name_model(base, self)
        self.forget = weakref.finalize(self, _forget, self.key, self.handles)
        self.forget.atexit = False

    # --- what users ask ---

    def __repr__(self) -> str:
        of = f"<hoist.torch: {type(self.model).__name__}, {len(self.units)} units"
        if self.released:
            return f"{of}, released>"
        now = self.native.query()
        return f"{of}, {now.phase.name.lower()} within {now.budget_bytes} bytes>"

    def offload_units(self) -> list:
        """The modules whose weights stream, for users who compile by themselves; the names of manual units."""
        return [unit.module if unit.module is not None else unit.name for unit in self.units]

    def resident_units(self) -> list:
        """The modules with parameters of their own that stay on the device."""
        streamed = {id(slot.parameter) for slot in self.slots}
        return [module for module in self.model.modules()
                if any(p is not None and id(p) not in streamed for p in module._parameters.values())]

    @property
    def budget(self) -> hoist.Budget:
        """Loose parameters and buffers, resident_bytes, are reserved in it; reserve() what else the device holds."""
        return self.budgeted.native

    def set_budget(self, budget) -> None:
        """Another budget, as offload takes it, from the next step on; hoist.InfeasibleError names the smallest."""
        self.settle()
        self.budgeted.set(budget, self.native)

    def reserve(self, bytes: int) -> None:
        """Counts device bytes that lie outside of hoist, beside resident_bytes; budget.release(bytes) gives them back.

        Ends a step whose backward has not come. hoist.InfeasibleError where the rest is too small."""
        self.settle()
        self.budget.reserve(bytes)

    def query(self) -> hoist.BudgetStatus:
        """Counts and sizes of the whole budget; see hoist.BudgetStatus."""
        return self.native.query()

    @property
    def phase(self) -> hoist.Phase:
        return self.native.query().phase

    @property
    def steps_before_serving(self) -> int:
        """Steps to run until a plan of measured times, or that of plan=, is served; 0: it is, or the next step's begin
        swaps it in."""
        left = 1 if self.replan.has_saved() else self.native.query().steps_before_serving  # one shows the order
        return left + int(self.discovers())

    def request_replan(self, warm: int = 0, measure: int = 0) -> int:
        """Asks for a new plan of what has been measured; gives the steps to run until one runs by it, itself included.

        0, and a warning, where it is unavailable; replan_status has the reason, and it may be asked for again. A plan is
        made of the last 8 times of each unit: `warm` and `measure` are steps to wait for first, after a change of what
        the model is run on, and each is timed; else one step in eight is. Under a captured graph it is swapped in
        before this returns, and the next replay runs by it."""
        return self.replan.request(warm, measure)

    @property
    def replan_status(self):
        """How requests stand, see replan.ReplanStatus; reading it changes nothing."""
        return self.replan.status()

    def update_state(self, replay_generation: "int | None" = None):
        """For loops that replay graphs and call this after each, as FlexTensor wants it; gives replan_status.

        Nothing of hoist needs it: replays count as steps by themselves. Only a request that waits for steps, where all of
        these are replays, goes on here. A generation that has been given before does nothing."""
        self.replan.update(replay_generation)
        return self.replan.status()

    def forget_graphs(self) -> None:
        """Says that no graph with a step of the model is replayed any more; waits for replays that have begun."""
        self.native.replay_release()

    def in_slots(self) -> bool:
        """Whether tensors have one address for as long as the model is offloaded."""
        return self.native.replay_query().placement == hoist.Placement.SLOTS

    def capturing(self) -> bool:
        """Whether this thread's work goes into a graph now."""
        return native.is_capturing(self.key, self.device)

    def on_event(self, event: int, value: int) -> None:
        """From the ops, between two steps; see native.watch."""
        if event == native.WAKE:
            if not self.capturing():
                self._waiting = [is_over for is_over in self._waiting if not self._ask(is_over)]
            native.wake_after(self.key, 1 if self._waiting else 0)
        elif event == native.MISPREDICTED:
            warnings.warn(f"hoist.torch: {value} of the last 16 steps ran units in another order than planned, so that their weights "
                          "are loaded on demand and nothing hides that (put what repeats, such as a round of the models on one budget, "
                          "into one step: with hoist.torch.manager(model).step():)", stacklevel=4)
        elif self.buckets is not None and not self.capturing():
            self.buckets.enter(value)

    def _ask(self, is_over) -> bool:
        try:
            return is_over()
        except Exception as error:
            warnings.warn(f"hoist.torch: after a step: {error}", stacklevel=3)
            return True

    def after_steps(self, is_over) -> None:
        """Asks after each step, a compiled graph's too, until is_over() says that there is no more to be done."""
        self._waiting.append(is_over)
        native.wake_after(self.key, 1)

    def find_budget(self) -> bool:
        """With the first plan of measured times the budget is found that hides all loads."""
        if self.phase != hoist.Phase.SERVING:
            return False
        self.budgeted.find(self.native)
        return True

    def refresh(self, only_changed: bool = False) -> int:
        """Brings parameters that were changed on the host to the device; gives how many bytes.

        Changes in place and parameters that were replaced are found at each eager step, after load_state_dict and
        after an optimizer's step. Call settle() before and this after other changes where the model is compiled, and
        after those in place that torch does not count, by way of `.data`."""
        return self.parameters.refresh(only_changed)

    @property
    def resident_bytes(self) -> int:
        """Of loose parameters and buffers, which stay on the device."""
        return self.parameters.resident_bytes

    def counters(self) -> dict[str, int]:
        """Steps, fetches, strays: fetches of a unit inside another one, served by copies beyond the budget; mispredicted_steps:
        of the budget's last 16 that served, those that ran units in another order than planned."""
        return native.counters(self.key)

    def suspend(self) -> None:
        """Gives the device memory back until resume()."""
        self.settle()
        self.native.suspend()
        native.forget_tensors(self.key)

    def resume(self) -> None:
        self.native.resume()

    def shapes(self, unit: int) -> list[tuple]:
        slots = self.units[unit - self.backward_offset if unit >= len(self.units) else unit].slots
        return [(leaf.like.shape, leaf.like.stride(), leaf.like.dtype) for slot in slots for leaf in slot.leaves]

    # --- steps ---

    def inside(self) -> bool:
        """Whether the caller is within a step of this model."""
        if torch.compiler.is_compiling():
            return self.token is not None
        return self._owner == threading.get_ident() or self.backward.is_within()

    def step_of_forward(self):
        """What is saved for a backward hands on; a region that runs its forward again is in the step of its backward."""
        return self._step or self.backward.step()

    def here(self):
        """A token of the place that the caller is at; where nothing is traced, any will do."""
        return self.token if torch.compiler.is_compiling() else self.spare_token

    def discovers(self) -> bool:
        """Whether the next forward shows what manual units read."""
        return self.manual is not None and self.manual.units is None

    def run(self, forward, module, args, kwargs):
        """The model's forward: a step, or part of the one that is open."""
        if self.discovers():
            self._require_here()
            return self.manual.discover(forward, module, args, kwargs)
        if self.inside():
            return forward(module, *args, **kwargs)
        if torch.compiler.is_compiling():
            return self._run_traced(forward, module, args, kwargs)
        with self.step(first_tensor(args, kwargs)):
            return forward(module, *args, **kwargs)

    def _run_traced(self, forward, module, args, kwargs):
        self.token = native.step_begin(self.anchor(first_tensor(args, kwargs)), self.key)
        out = forward(module, *args, **kwargs)
        left = leaves(out)
        end = native.forward_end if any(leaf.requires_grad for leaf in left) else native.step_end
        end([leaf.detach() for leaf in left], self.token, self.key)
        self.token = None
        return out

    def alone(self, unit, forward, module, args, kwargs):
        """A unit that is called outside of its model's forward: a step of its own."""
        if torch.compiler.is_compiling():
            def within(module, *args, **kwargs):
                return unit.run(forward, module, args, kwargs)

            return self._run_traced(within, module, args, kwargs)
        with self.step(first_tensor(args, kwargs)):
            return unit.run(forward, module, args, kwargs)

    def anchor(self, tensor):
        """A tensor on the device, without gradients, for an op to come after."""
        if tensor is None or tensor.device != self.device:
            return self.spare_token if self.token is None else self.token
        return tensor.detach()

    @contextlib.contextmanager
    def step(self, anchor=None):
        """A step by hand: several calls of the model, or of parts of it, that are planned as one."""
        if not self.inside() and compat.backward_number() >= 0:
            self.backward.enter()  # a checkpointed region runs its forward again
        if self.inside():
            yield self
            return
        self._begin(anchor)
        try:
            yield self
        except BaseException:
            self._leave_by_error()
            raise
        self._leave()

    def _begin(self, anchor=None) -> None:
        self._require_here()
        if self.capturing():
            graphs.require_capturable(self)
        native.take_for_forward(self.key)
        self._owner, self.goes_back = threading.get_ident(), False
        try:
            self._before_step()
            with torch.no_grad():
                self.token = native.step_begin(self.anchor(anchor), self.key)
            self._step = training.Step(self.key, native.step_number(self.key))
        except BaseException:
            self._leave_by_error()
            raise

    def _require_here(self) -> None:
        if self.released:
            raise RuntimeError("hoist.torch: the model has been released (offload it again)")

    def _before_step(self) -> None:
        inference = torch.is_inference_mode_enabled()
        if inference != self._inference:
            native.forget_tensors(self.key)
            self._inference = inference
        self.refresh(only_changed=True)

    def _leave(self) -> None:
        token, self.token, self._step, self._owner = self.token, None, None, None
        if self.goes_back:
            native.await_backward(self.key)
            return
        with torch.no_grad():
            native.step_end([], token, self.key)

    def _leave_by_error(self) -> None:
        self.token = self._step = self._owner = None
        for unit in self.units:
            unit.views = None
        self.backward.forget()
        native.abort(self.key)

    def awaits_backward(self) -> bool:
        """Whether a forward has left its step open for its backward."""
        return native.awaits_backward(self.key)

    def settle(self) -> None:
        """Between steps, all work done: waits until no other thread is inside, and ends a step that a forward with
        gradients has left open."""
        if self.discovers():
            return
        if self.inside():
            raise RuntimeError("hoist.torch: within a step of the model (call it after the forward, and after the backward)")
        native.settle(self.key)
        self.native.drain()

    def refresh_between_steps(self) -> None:
        """Brings parameters that were changed to the device while no other thread is inside a step."""
        with self._between_steps():
            self.refresh(only_changed=True)

    @contextlib.contextmanager
    def _between_steps(self):
        """While no other thread is inside a step of the budget; one that waits for its backward ends."""
        if self.discovers():
            yield
            return
        native.take(self.key)
        try:
            yield
        finally:
            native.abort(self.key)  # there is no step to give up, the turn is over

    def release(self) -> None:
        """Ends offloading: the model is what it was, with the present bytes, where they were."""
        if self.released:
            return
        self.settle()
        with self._between_steps():  # of other threads, too
            self.parameters.give_back()
            for module in list(self.model.modules()):
                if module.__dict__.keys() & set(hooks.MARKS):
                    hooks.take_off(module)
            compat.forget_compiled(self.model)
            self.released = True
            self.native.close()
        self.forget()
        self.budgeted.end()


def _forget(key: int, handles: list) -> None:
    for handle in handles:
        handle.remove()
    compiling.release(key)
    native.close_model(key)


def manager(model: torch.nn.Module) -> ModelManager | None:
    """The manager of an offloaded model; None where it is not offloaded. A compiled model's is its own's."""
    inner = getattr(model, "_orig_mod", model)
    return inner.__dict__.get("_hoist_root")
