# SPDX-License-Identifier: Apache-2.0
"""offload(model, ...): packs the weights, puts itself around the modules, and gives the model back on release."""

import hashlib
import json
from dataclasses import dataclass

import torch
from torch import nn

import hoist
from hoist.torch import compat, hooks, layout, native, plans, training, units
from hoist.torch import compile as compiling
from hoist.torch.buckets import Buckets, require_plans_to_keep
from hoist.torch.budgets import ModelBudget
from hoist.torch.devices import resolve_device
from hoist.torch.load import progress_of
from hoist.torch.manager import ModelManager, manager
from hoist.torch.manual import Manual
from hoist.torch.progress import Progress
from hoist.torch.unit import Unit

LOWERING = 2  # grows when graphs made by an older hoist.torch would be wrong


def _refuse(model: nn.Module) -> None:
    where = "hoist.torch.offload: "
    if not isinstance(model, nn.Module):
        raise TypeError(f"{where}{type(model).__name__} is no torch.nn.Module (give the model)")
    if compat.is_compiled(model):
        raise ValueError(where + "the model has been compiled already (offload first, then compile: "
                                 "model = offload(model); model = torch.compile(model), or offload(model, compile=True))")
    if manager(model) is not None:
        raise ValueError(where + "the model is offloaded already (call hoist.torch.manager(model).release() first)")
    for name, module in model.named_modules():
        if hasattr(module, "_hf_hook"):
            raise ValueError(f'{where}module "{name}" has a hook of accelerate (call '
                             "accelerate.hooks.remove_hook_from_module(model, recurse=True) first)")


def _slots_of(choice: units.Choice, excluded, made: layout.Layout) -> list[layout.Slot]:
    found = []
    for inner, module in choice.module.named_modules():
        for name, parameter in module._parameters.items():
            path = ".".join(part for part in (choice.name, inner, name) if part)
            if parameter is None or parameter.numel() == 0 or excluded(path):
                continue
            if choice.parameters is None or path in choice.parameters:
                found.append(made.slot(module, name, path, parameter))
    return found


def _key(chosen: list, device: torch.device, backward_offset: int) -> int:
    """What graphs carry: 47 bits of a fingerprint of the layout and of units' numbers, then room for the number of the
    model among its likes.

    So the compile cache of another process finds a graph for this layout and for this way of lowering only."""
    facts = [LOWERING, device.type, backward_offset, [[name, [[str(leaf.like.dtype), list(leaf.like.shape), list(leaf.like.stride())]
                                             for slot in slots for leaf in slot.leaves]] for name, _, slots in chosen]]
    digest = hashlib.sha256(json.dumps(facts).encode()).digest()
    return (int.from_bytes(digest[:6], "big") >> 1) << 16


@dataclass
class Wanted:
    """What offload was asked for beside the units."""

    compile: object
    plan: object
    progress: object
    shape_buckets: bool


def offload(model: nn.Module, budget=None, *, device=None, include=None, exclude=(), compile=False, plan=None,
            progress=None, shape_buckets=False, manual=False, **options):
    """Streams the model's weights under a byte budget; gives the model itself, changed in place.

    budget: bytes such as "24GiB" for the model, what stays on the device included; a share of the streamed weights such as
    "60%"; a hoist.Budget to join, which counts streamed weights alone; None: as little as still hides all loads behind
    compute, found once units have been measured. device: "cuda", "cuda:1" or a hoist device such as "host:0"; None: cuda
    where there is one. include, exclude: patterns of modules and parameters (see units.py); what is excluded, loose or a
    buffer stays on the device. compile: True compiles the whole model as one graph; a function module -> module is applied
    to each unit. plan: a file of save_plan. progress: True for a bar while the weights are read and packed, or a function
    (bytes done, bytes in all); None: as load was told. shape_buckets: plans are kept by the shapes that enter, see
    buckets.py. manual: units are what the forward says by hoist.torch.manual_unit, see manual.py. options: those of hoist.Budget.
    The first steps discover and measure; see manager(model).steps_before_serving.
    """
    _refuse(model)
    include = (include,) if isinstance(include, str) else include
    exclude = (exclude,) if isinstance(exclude, str) else exclude
    name, place = resolve_device(device)
    native_device = hoist.Device(name)
    excluded = units.Excluded(model, exclude)
    wanted = Wanted(compile, plan, progress_of(model) if progress is None else progress, shape_buckets)
    made = layout.Layout()
    chosen = [] if manual else _choose(model, include, excluded, made)
    whole = ModelManager(model, place, native_device, ModelBudget(native_device, budget, options))
    if shape_buckets:
        require_plans_to_keep(whole)
    if manual:
        _discover_by_hand(whole, include, excluded, wanted)
    else:
        _start(whole, chosen, made, wanted)
    return model


def _choose(model: nn.Module, include, excluded, made: layout.Layout) -> list:
    chosen = []
    for choice in units.choose(model, include, excluded):
        if slots := _slots_of(choice, excluded, made):
            chosen.append((choice.name or type(model).__name__, choice.module, slots))
    if not chosen:
        raise ValueError("hoist.torch.offload: no parameters to stream (is the model empty, or everything excluded?)")
    return chosen


def _discover_by_hand(whole: ModelManager, include, excluded, wanted: Wanted) -> None:
    """Nothing is packed before a first forward has shown which unit reads what."""
    if include is not None or wanted.compile:
        raise ValueError("hoist.torch.offload: manual units with include= or compile= (the forward says what a unit is; compile "
                         "after the first run: model = torch.compile(model))")
    whole.parameters.place_residents(list(whole.model.buffers()))
    whole.manual = Manual(whole)
    whole.manual.watch(whole.model)
    whole.model.__dict__["_hoist_root"] = whole
    hooks.put_on(whole.model, role="root")
    hooks.show_device(whole.model, whole.device)
    paths = {id(module): name for name, module in whole.model.named_modules()}

    def finish(found: dict[str, list]) -> None:
        made, slots, chosen = layout.Layout(), {}, []
        for unit, reads in found.items():
            mine = []
            for module, name in reads:
                path, parameter = f"{paths[id(module)]}.{name}".lstrip("."), module._parameters[name]
                if excluded(path) or parameter.numel() == 0:
                    continue
                if (id(module), name) not in slots:
                    slots[id(module), name] = made.slot(module, name, path, parameter)
                mine.append(slots[id(module), name])
            if mine:
                chosen.append((unit, None, mine))
        if not chosen:
            raise RuntimeError('hoist.torch: the forward reads no parameter within a unit (put `with hoist.torch.manual_unit(self, "name"):` '
                               "around its parts)")
        _start(whole, chosen, made, wanted)

    whole.finish_manual = finish


def _start(whole: ModelManager, chosen: list, made: layout.Layout, wanted: Wanted) -> None:
    """The units are known: packs them, and puts itself around the modules."""
    # In slots, what two units use stays on the device: there a backward runs the forward's units again.
    trains = any(slot.parameter.requires_grad for _, _, slots in chosen for slot in slots)
    if trains and not whole.in_slots() and whole.manual is None:
        whole.backward_offset = len(chosen)
    whole.take_key(_key(chosen, whole.device, whole.backward_offset))
    for index, (name, module, slots) in enumerate(chosen):
        whole.units.append(Unit(whole, index, name, module, slots))
    whole.items = made.items
    whole.slots = list({id(slot): slot for unit in whole.units for slot in unit.slots}.values())
    made.finish(whole.slots)
    _commit(whole, Progress(wanted.progress, sum(item.bytes for item in made.items)))
    _open(whole)
    if whole.manual is None:
        _install(whole)
    else:
        whole.manual.install()
    whole.handles += training.watch_optimizers(whole)
    compiling.acquire(whole.key)
    if wanted.shape_buckets:
        whole.buckets = Buckets(whole)
    if wanted.plan is not None:
        plans.load_plan(whole.model, wanted.plan)
    elif whole.budgeted.hides:
        whole.after_steps(whole.find_budget)
    if wanted.compile is True:
        compat.compile_whole(whole.model)
    elif wanted.compile:
        compiling.compile_units(whole, wanted.compile)


def _add_units(whole: ModelManager, mode: str, progress: Progress) -> None:
    """The manager's units, each with the items that its slots lie in."""
    native_manager = whole.native
    for unit in whole.units:
        index = native_manager.add_unit(unit.name + mode)
        unit.view_of = {}
        for leaf in (leaf for slot in unit.slots for leaf in slot.leaves):
            item = leaf.item
            if id(item) in unit.view_of:
                continue
            unit.view_of[id(item)] = len(unit.view_of)
            if item.tensor < 0:
                item.tensor = native_manager.add_copied(index, item.name, layout.source_of(item, progress.add))
            else:
                native_manager.add_use(index, item.tensor, hoist.UseMode.READ)


def _commit(whole: ModelManager, progress: Progress) -> None:
    """Moves the bytes of all items into the manager's host memory; as it was where anything fails."""
    streamed = {id(slot.parameter) for slot in whole.slots}
    whole.parameters.place_residents([p for p in whole.model.parameters() if id(p) not in streamed] + list(whole.model.buffers()))
    try:
        whole.budgeted.start(whole.resident_bytes)
        _add_units(whole, "", progress)
        if whole.backward_offset:
            _add_units(whole, " (backward)", progress)
        whole.budgeted.keep_all_that_fits(sum(item.bytes for item in whole.items))
        layout.empty_out(whole.slots)
        whole.native.commit()
    except BaseException as error:
        layout.give_back([slot for slot in whole.slots if slot.leaves[0].item.tensor >= 0], whole.native)
        whole.parameters.return_residents()
        explained = whole.budgeted.explain(error) if isinstance(error, hoist.errors.InfeasibleError) else None
        whole.budgeted.end()
        if explained is not None:
            raise explained from None
        raise
    layout.show_host_copies(whole.slots, whole.native)


def _open(whole: ModelManager) -> None:
    """The ops know the model from here on."""
    native.open_model(whole.key, whole.native, whole.native_device, whole.device, whole.budgeted.native)
    whole.watching = native.watch(whole.key, whole.on_event)
    for offset in {0, whole.backward_offset}:
        for unit in whole.units:
            for slot in unit.slots:
                for leaf in slot.leaves:
                    native.add_leaf(whole.key, unit.index + offset, leaf.item.tensor, unit.view_of[id(leaf.item)],
                                    leaf.offset, leaf.like)


def _install(whole: ModelManager) -> None:
    for unit in whole.units:
        names: dict[int, dict[str, int]] = {}
        modules = {}
        for number, slot in enumerate(unit.slots):
            names.setdefault(id(slot.module), {})[slot.name] = number
            modules[id(slot.module)] = slot.module
        for key, module in modules.items():
            module.__dict__["_hoist_unit"] = unit
            module.__dict__["_hoist_index"] = names[key]
            hooks.put_on(module, tuple(names[key]))
        unit.module.__dict__["_hoist_run"] = unit
        hooks.put_on(unit.module, role="unit")
    whole.model.__dict__["_hoist_root"] = whole
    hooks.put_on(whole.model, role="root")
    hooks.show_device(whole.model, whole.device)

