# SPDX-License-Identifier: Apache-2.0
"""Compiled training: the backward fetches again what autograd would have kept of a slot.

The forward and the backward are traced as one joint graph, and a partitioner says what is kept between them. Before it,
what is computed of weights alone is marked to be computed again. After it, every slot that it has chosen to keep is taken
from the forward's results, and the backward is written anew: where a slot is read its unit is fetched, and ended before
the next one begins.
"""

import torch

from hoist.torch import compat, native
from hoist.torch.nodes import is_tensor, looks_at

VERSION = "hoist.fetch_again.2"


def _is_number(node: torch.fx.Node) -> bool:
    return isinstance(node.meta.get("val"), (int, float, torch.SymInt, torch.SymFloat))


def _of_weights_alone(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """What can be had again from fetched tensors and from nothing else, views included."""
    fetched, found, constants = set(), [], set()
    for node in graph.nodes:
        if node.target is native.fetch_trained:
            fetched.add(node)
        if node.op != "call_function" or node.is_impure() or compat.is_random(node):
            continue
        sources = [source for source in node.all_input_nodes if not _is_number(source) and source not in constants]
        if not sources:
            constants.add(node)
        elif all(source in fetched for source in sources):
            fetched.add(node)
            found.append(node)
    return found


def _hand_on_steps(graph: torch.fx.Graph) -> None:
    """The number of a forward's step is kept for its backward, which begins with it: see native.join_step."""
    last = {node.args[-2]: node for node in graph.nodes if node.target is native.fetch_trained}
    gradient = next((node for node in graph.find_nodes(op="placeholder") if compat.is_tangent(node)), None)
    if gradient is None:
        return  # there is no backward
    for key, fetch in last.items():
        token = fetch.args[1]
        with graph.inserting_before(fetch):
            mark = graph.call_function(native.step_mark, (token, key))
        mark.meta["val"] = token.meta["val"].new_empty(2, dtype=torch.int64, device="cpu")
        with graph.inserting_before(next(iter(graph.find_nodes(op="output")))):
            begin = graph.call_function(native.backward_begin, (gradient, mark, key))
        begin.meta["val"] = token.meta["val"]


def prepare(graph: torch.fx.Graph) -> None:
    """Tells the partitioner what stays in the forward and what is cheap."""
    _hand_on_steps(graph)
    for node in graph.nodes:
        if node.target in native.OF_FORWARDS:
            compat.only_in_forward(node)
    for node in _of_weights_alone(graph):
        if node.target is compat.getitem and node.args[0].target is native.fetch_trained:
            compat.must_save(node)
        else:
            compat.must_recompute(node)


def plain_fetches(graph: torch.fx.Graph) -> None:
    """Once gradients have their way, a fetch does not need its parameters any more."""
    for node in graph.nodes:
        if node.target is native.fetch_trained:
            anchor, token, _, model, unit = node.args
            node.target, node.args = native.fetch, (anchor, token, model, unit)


class _Kept:
    """A slot, or a view of one, among what the forward keeps."""

    def __init__(self, fetch: torch.fx.Node, path: list[torch.fx.Node]):
        self.fetch, self.path = fetch, path  # from the element of the fetch outwards

    @staticmethod
    def of(node: torch.fx.Node) -> "_Kept | None":
        path = []
        while isinstance(node, torch.fx.Node) and node.target is not native.fetch:
            if node.op != "call_function" or not looks_at(node):
                return None
            path.append(node)
            node = node.args[0]
        return _Kept(node, path[::-1]) if isinstance(node, torch.fx.Node) else None


def _take_from_results(graph: torch.fx.Graph, first: int) -> dict[str, _Kept]:
    """Takes slots from what the forward keeps beside its first results; by the names of the backward's inputs."""
    end = next(iter(graph.find_nodes(op="output")))
    values, facts = list(end.args[0]), end.meta.get("desc")
    kept = {at: slot for at, node in enumerate(values) if at >= first and (slot := _Kept.of(node)) is not None}
    end.args = (tuple(value for at, value in enumerate(values) if at not in kept),)
    if facts is not None:
        end.meta["desc"] = [fact for at, fact in enumerate(facts) if at not in kept]
    graph.eliminate_dead_code()
    return {values[at].name: slot for at, slot in kept.items()}


class _Segment:
    """A unit that is open while the backward is written."""

    def __init__(self, instance: torch.fx.Node, fetch: torch.fx.Node, first: torch.fx.Node):
        self.instance, self.fetch, self.first = instance, fetch, first
        self.views: dict = {}
        self.readers: list = []


class _Rewrite:
    """Writes a backward anew, in its order, with fetches where slots are read."""

    def __init__(self, old: torch.fx.Graph, kept: dict[str, _Kept], like_token):
        self.old, self.kept, self.like_token = old, kept, like_token
        self.begins = {node.args[-1]: node for node in old.nodes if node.target is native.backward_begin}
        self.new = torch.fx.Graph()
        self.env: dict[torch.fx.Node, torch.fx.Node] = {}
        self.open: dict[int, _Segment] = {}
        self.tokens: dict[int, torch.fx.Node] = {}
        self.instance: dict[torch.fx.Node, torch.fx.Node] = {}  # of a slot or a view of it: the fetch that gave it
        self.floating: set[torch.fx.Node] = set()
        self.sent: list[torch.fx.Node] = []  # since the last unit's end
        self.received = [node for node in old.nodes if node.target is native.receive_gradients and self._only_given_out(node)]
        self.put_off = {node for each in self.received for node in (each, *each.users)} | set(self.begins.values())
        self._classify()
        self.readers: dict[torch.fx.Node, list] = {}
        for node in old.nodes:
            for source in node.all_input_nodes:
                if source in self.instance and node not in self.instance:
                    self.readers.setdefault(self.instance[source], []).append(node)

    def _classify(self) -> None:
        """Views of slots are made where they are read; what is computed of slots alone, where it is wanted."""
        for node in self.old.nodes:
            if node.op == "placeholder" and node.name in self.kept:
                self.instance[node] = self.kept[node.name].fetch
                self.floating.add(node)
            if node.op != "call_function" or node.is_impure() or compat.is_random(node):
                continue
            sources = [source for source in node.all_input_nodes if not _is_number(source)]
            if sources and all(source in self.floating for source in sources):
                self.floating.add(node)
                if looks_at(node) and sources[0] in self.instance:
                    self.instance[node] = self.instance[sources[0]]

    def _only_given_out(self, received: torch.fx.Node) -> bool:
        return all(user.op == "output" for element in received.users for user in element.users)

    def _call(self, op, args: tuple, like) -> torch.fx.Node:
        node = self.new.call_function(op, args)
        node.meta["val"] = like
        return node

    # --- units ---

    def _begin(self, key: int) -> None:
        if key not in self.tokens:
            gradient, mark, _ = self.begins[key].args
            self.tokens[key] = self._call(native.backward_begin, (self.env[gradient], self.env[mark], key), self.like_token)

    def _fetch(self, instance: torch.fx.Node, anchor: "torch.fx.Node | None") -> _Segment:
        key, unit = instance.args[-2:]
        if key in self.open and self.open[key].instance is instance:
            return self.open[key]
        if key in self.open:
            self._finish(key)
        self._begin(key)
        token, values = self.tokens[key], instance.meta["val"]
        fetch = self._call(native.fetch, (anchor or token, token, key, unit + native.backward_offset(key)), values)
        segment = _Segment(instance, fetch, self._call(compat.getitem, (fetch, 0), values[0]))
        segment.views[(compat.getitem, 0)] = segment.first
        self.open[key] = segment
        return segment

    def _finish(self, key: int) -> None:
        """Ends the open unit, once all of its readers that need no other unit stand."""
        segment = self.open[key]
        for reader in self.readers[segment.instance]:
            if reader not in self.env and reader.op != "output" and self._reachable(reader, segment.instance):
                self._emit(reader)
        del self.open[key]
        leaving = [*(reader for reader in segment.readers if is_tensor(reader)), *self.sent]  # these go on their way now
        self.sent.clear()
        unit = segment.fetch.args[-1]
        self.tokens[key] = self._call(native.unit_end, (segment.first, leaving, key, unit), self.like_token)

    def _reachable(self, reader: torch.fx.Node, instance: torch.fx.Node) -> bool:
        """Whether a node can be written with no other unit open than this one."""
        todo, seen = [reader], set()
        while todo:
            node = todo.pop()
            if node in self.env or node in seen:
                continue
            seen.add(node)
            if self.instance.get(node, instance) is not instance:
                return False
            todo += node.all_input_nodes
        return True

    # --- nodes ---

    def _view(self, node: torch.fx.Node, segment: _Segment) -> torch.fx.Node:
        """A slot, or a view of it, in the open unit."""
        if node not in segment.views:
            if node.op == "placeholder":
                segment.views[node] = self._slot(self.kept[node.name], segment)
            else:
                segment.views[node] = self.new.node_copy(node, lambda source: self._value(source, segment))
        return segment.views[node]

    def _slot(self, kept: _Kept, segment: _Segment) -> torch.fx.Node:
        at, made = kept.path[0].args[1], None
        if (compat.getitem, at) not in segment.views:
            segment.views[(compat.getitem, at)] = self._call(compat.getitem, (segment.fetch, at), kept.path[0].meta["val"])
        made = segment.views[(compat.getitem, at)]
        for step in kept.path[1:]:
            before = step.args[0]
            made = self.new.node_copy(step, lambda source, made=made, before=before:
                                      made if source is before else self._of_forward(source))
        return made

    def _of_forward(self, node: torch.fx.Node) -> torch.fx.Node:
        """A size of the forward, which the backward has under the same name."""
        for have, new in self.env.items():
            if have.name == node.name:
                return new
        raise RuntimeError(f"hoist.torch: a view of a weight depends on {node.format_node()}, which the backward lacks "
                           "(exclude the parameter, or compile with dynamic=False)")

    def _value(self, node: torch.fx.Node, segment: "_Segment | None") -> torch.fx.Node:
        if node in self.instance:
            return self._view(node, segment)
        return self.env[node]

    def _emit(self, node: torch.fx.Node) -> None:
        if node in self.env or node in self.instance:
            return
        slots = [source for source in node.all_input_nodes if source in self.instance]
        plain = [source for source in node.all_input_nodes if source not in self.instance]
        for source in plain:
            self._emit(source)
        instances = dict.fromkeys(self.instance[source] for source in slots)
        if len(instances) > 1 or (slots and node.op == "output"):
            names = ", ".join(str(instance.args[-1]) for instance in instances)
            raise RuntimeError(f"hoist.torch: the backward wants tensors of units {names} at once, in {node.format_node()} "
                               "(exclude a parameter of theirs, or train in eager)")
        segment = None
        for instance in instances:
            anchors = [self.env[source] for source in plain if is_tensor(source)]
            segment = self._fetch(instance, next(filter(self._on_device, anchors), None))
            for source in plain:
                self._emit(source)
        self.env[node] = self.new.node_copy(node, lambda source: self._value(source, segment))
        if segment is not None:
            segment.readers.append(self.env[node])
        if node.target is native.send_gradient:
            self.sent.append(self.env[node])

    def _on_device(self, node: torch.fx.Node) -> bool:
        return node.meta["val"].device == self.like_token.device

    def _receive(self) -> None:
        """Waits for gradients that have been sent to host memory, all at once and after everything else."""
        for key in self.begins:
            mine = [node for node in self.received if node.args[-1] == key]
            sent = [each for node in mine for each in node.args[0]]
            if not sent:
                continue
            values = [each.meta["val"] for each in sent]
            received = self._call(native.receive_gradients, ([self.env[each] for each in sent], self.tokens[key], key), values)
            for node in mine:
                for element in node.users:
                    at = sent.index(node.args[0][element.args[1]])
                    self.env[element] = self._call(compat.getitem, (received, at), values[at])

    def run(self) -> torch.fx.Graph:
        for node in self.old.nodes:
            if node.op != "output" and node not in self.floating and node not in self.put_off:
                self._emit(node)
        end = next(iter(self.old.find_nodes(op="output")))
        for source in end.all_input_nodes:
            if source not in self.put_off:
                self._emit(source)
        for key in list(self.open):
            self._finish(key)
        for key in self.begins:  # that one which reads no slot ends its step, too
            self._begin(key)
        self._receive()
        self._emit(end)
        self.new.lint()
        return self.new


def fetch_again(forward, backward, first: int) -> None:
    """Rewrites both halves; `first` results of the forward are the user's."""
    plain_fetches(forward.graph)
    kept = _take_from_results(forward.graph, first)
    if missing := kept.keys() - {node.name for node in backward.graph.find_nodes(op="placeholder")}:
        raise RuntimeError(f"hoist.torch: the forward keeps {', '.join(sorted(missing))}, which the backward does not take under "
                           "that name (is the partitioner another one than torch's?)")
    like = next(node.meta["val"] for node in forward.graph.nodes if node.target is native.unit_end)
    backward.graph = _Rewrite(backward.graph, kept, like).run()
    forward.recompile()
    backward.recompile()


class Partitioner(compat.partitioner_base()):
    """The user's own, or torch's, and what hoist.torch does before and after it."""

    def __init__(self, before):
        self.before = before

    def __call__(self, joint, inputs, **kwargs):
        split = self.before or compat.partition
        if not any(node.target is native.fetch_trained for node in joint.graph.nodes):
            return split(joint, inputs, **kwargs)
        prepare(joint.graph)
        forward, backward = split(joint, inputs, **kwargs)
        fetch_again(forward, backward, kwargs["num_fwd_outputs"])
        return forward, backward

    def uuid(self):
        return (VERSION, compat.caching_facts(), self.before.uuid() if self.before is not None else None)
