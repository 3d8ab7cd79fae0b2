# SPDX-License-Identifier: Apache-2.0
"""What torch.compile must know: fetched tensors are never written, and nothing reads them after their unit's end.

Inductor takes what a call returns for memory of its own: it computes in place in it, and gives it to other results.
So the ops have a lowering that forbids both. It may also compute a value where it is wanted, long after the op that
gave its inputs. So a pass, the last over a graph, closes each unit: readers of its tensors stand before its end, and
what depends on them and is wanted later is among the values that the end waits for.
"""

import warnings

import torch

from hoist.torch import compat, graphs, hooks, joint, native
from hoist.torch.nodes import is_tensor, looks_at

CLOSED = "hoist_closed"
VERSION = "hoist.close_units.3"
_owners: set[int] = set()
_undo: list = []


def _views_of(nodes) -> list[torch.fx.Node]:
    """The nodes and all that look at their memory."""
    found, todo = {}, list(nodes)
    while todo:
        node = todo.pop()
        if node not in found:
            found[node] = None
            todo += [user for user in node.users if looks_at(user)]
    return list(found)


class _Unit:
    """The nodes of a fetch and its end in a graph."""

    def __init__(self, end: torch.fx.Node, place: dict):
        self.end, self.place = end, place
        first = end.args[0]
        while first.target is not native.fetch:
            first = first.args[0]
        self.fetch = first
        self.slots = _views_of([first])

    def late(self, node: torch.fx.Node) -> bool:
        return self.place[node] > self.place[self.end]

    def bring(self, node: torch.fx.Node) -> None:
        """Moves a node, and what it is made of, before the unit's end."""
        if not self.late(node):
            return
        if node.op in ("placeholder", "output") or self.end in node.all_input_nodes:
            raise RuntimeError(f"hoist.torch: a streamed tensor of unit {self.fetch.args[-1]} is used after its unit's end, in "
                               f"{node.format_node()} (let the unit return a copy, or exclude the parameter)")
        for source in node.all_input_nodes:
            self.bring(source)
        self.end.prepend(node)
        self.place[node] = self.place[self.end] - 0.5

    def close(self) -> None:
        readers = [user for slot in self.slots for user in slot.users if user not in self.slots and user is not self.end]
        for node in self.slots:
            self.bring(node)
        for node in readers:
            self.bring(node)
        waited = dict.fromkeys(self.end.args[1])
        seen, todo = set(), readers
        while todo:
            node = todo.pop()
            if node in seen or self.late(node) or node is self.end:
                continue
            seen.add(node)
            for user in list(node.users):
                if self.late(user) and not is_tensor(node):
                    self.bring(user)  # an element of a tuple
                if self.late(user) and is_tensor(node):
                    waited[node] = None
                todo.append(user)
        self.end.update_arg(1, list(waited))
        self.end.meta[CLOSED] = True


def close_units(graph: torch.fx.Graph) -> None:
    joint.plain_fetches(graph)  # of a graph with gradients in which nothing wanted one
    ends = [node for node in graph.nodes if node.target is native.unit_end]
    for end in ends:
        _Unit(end, {node: at for at, node in enumerate(graph.nodes)}).close()
    if ends:
        graph.lint()


def order_steps(graph: torch.fx.Graph) -> None:
    """Each step of a model comes after the one before in the graph: calls of one model have no value in common."""
    ended: dict[int, torch.fx.Node] = {}
    for node in graph.nodes:
        if node.target in (native.step_end, native.forward_end):
            ended[node.args[-1]] = node
        elif node.target is native.step_begin and node.args[-1] in ended:
            anchor, key = node.args
            node.target, node.args = native.step_next, (anchor, ended[key], key)


class _FirstPass(compat.pass_base()):
    """Ours, before the user's own."""

    def __init__(self, before):
        self.before = before

    def __call__(self, graph) -> None:
        order_steps(graph)
        if self.before is not None:
            self.before(graph)

    def uuid(self):
        return (VERSION, compat.caching_facts(), self.before.uuid() if self.before is not None else None)


class _Pass(compat.pass_base()):
    """Ours, after the user's own."""

    def __init__(self, before):
        self.before = before

    def __call__(self, graph) -> None:
        if self.before is not None:
            self.before(graph)
        close_units(graph)

    def uuid(self):
        theirs = self.before.uuid() if self.before is not None else None
        return (VERSION, compat.caching_facts(), theirs)


def _lowering(op):
    call = compat.make_fallback(op)

    def lowered(*args, **kwargs):
        node = compat.current_node()
        if op is native.unit_end and not node.meta.get(CLOSED):
            raise RuntimeError("hoist.torch: a graph with streamed weights has not been closed (a pass of inductor's "
                               "post_grad_custom_post_pass replaces hoist.torch's: set it before offload, which keeps it)")
        if op is native.step_begin and compat.makes_graphs():
            graphs.require_for_trees(native._manager(node.args[1]))
        if op is native.send_gradient:
            compat.never_reuse(args[0])  # its copy is on the way when the call returns
        outputs = call(*args, **kwargs)
        compat.never_reuse(outputs)
        return outputs

    return lowered


def install_lowerings() -> None:
    """Before anything is compiled or served from a cache: graphs with these ops are never lowered otherwise."""
    for op in native.OPS:
        compat.keep_in_graphs(op)
        if op not in compat.lowerings():
            compat.lowerings()[op] = _lowering(op)


def _put(place, make) -> None:
    """Something of ours for what a place of torch's configuration has, until the last model goes."""
    config, name = place
    before = getattr(config, name)
    ours = make(before)
    setattr(config, name, ours)

    def undo():
        if getattr(config, name) is ours:
            setattr(config, name, before)

    _undo.append(undo)


def acquire(key: int) -> None:
    """What compilers need is there while a model is offloaded; the first one installs it."""
    if not _owners:
        install_lowerings()
        _put(compat.inductor_first_pass(), _FirstPass)
        _put(compat.inductor_passes(), _Pass)
        _put(compat.inductor_partitioner(), joint.Partitioner)
        _put(compat.side_effects_in_checkpoints(), lambda before: True)
    _owners.add(key)


def release(key: int) -> None:
    _owners.discard(key)
    while not _owners and _undo:
        _undo.pop()()


def compile_units(manager, function) -> None:
    """Each unit's forward by a function module -> module; where it raises, that unit stays as it is."""
    for unit in manager.units:
        try:
            compiled = function(hooks.Shell(unit.module))
        except Exception as error:
            warnings.warn(f'hoist.torch: unit "{unit.name}" is not compiled: {error}', stacklevel=3)
            continue
        unit.compiled = _without_self(compiled)


def _without_self(compiled):
    return lambda module, *args, **kwargs: compiled(*args, **kwargs)
