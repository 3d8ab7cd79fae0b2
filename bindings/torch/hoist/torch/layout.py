# SPDX-License-Identifier: Apache-2.0
"""From parameters to bytes: which ranges of memory are items, and how parameters lie in them.

Tied weights, and parameters that look at one storage, are one item. Parameters made of several inner tensors
(quantized ones) are so many leaves. What is sparse in its storage is packed; strides stay as they look.
"""

import ctypes
import weakref
from dataclasses import dataclass, field

import torch
from torch import nn

from hoist.torch import compat

SPARSE = 2  # a range with more than twice the bytes that the tensor needs is packed


@dataclass
class Item:
    """A range of bytes that moves as one tensor of the manager."""

    name: str
    storage: "torch.UntypedStorage | None"  # until it has been packed
    low: int
    high: int
    tensor: int = -1  # of the manager
    source: object = None  # a weak reference to what holds the storage for the manager
    within: "Item | None" = None  # the item that has swallowed it
    dirty: bool = False

    def whole(self) -> "Item":
        return self if self.within is None else self.within.whole()

    @property
    def bytes(self) -> int:
        return self.high - self.low


@dataclass
class Leaf:
    """A plain tensor of a slot: its place in an item, its looks, and what it shows of the host copy."""

    item: Item
    offset: int  # of its first element in the item, in bytes
    like: torch.Tensor  # on meta: size, stride, dtype
    put: object  # puts a tensor where it was found: put(tensor)
    host: "torch.Tensor | None" = None


@dataclass
class Slot:
    """A parameter of a module that streams."""

    module: nn.Module
    name: str
    path: str
    parameter: nn.Parameter
    leaves: list[Leaf] = field(default_factory=list)
    build: object = None  # makes the tensor of the leaves' tensors; None: the one leaf itself
    device: "torch.device | None" = None
    version: int = 0
    host_at: "int | None" = None  # the address of the host copy of a plain parameter

    def is_as_it_was(self) -> bool:
        """Whether nothing that torch tells of has changed; asked of each parameter at each step, so that it is short."""
        parameter = self.parameter
        return (self.module._parameters.get(self.name) is parameter and parameter._version == self.version
                and (self.host_at is None or parameter.data_ptr() == self.host_at))

    def has_other_bytes(self) -> bool:
        """Whether `parameter.data = ...` has taken the streamed parameter away from the host copy."""
        if self.build is not None or self.leaves[0].host is None or not self.streams():
            return False
        return self.parameter.data_ptr() != self.leaves[0].host.data_ptr()

    def streams(self) -> bool:
        """Whether the module still gives the parameter out of a unit; one that was replaced by something else is not."""
        return self.name in self.module.__dict__.get("_hoist_index", ())


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """First and last byte, exclusive, of a tensor in its storage."""
    low = tensor.storage_offset() * tensor.element_size()
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return low, low + (last + 1) * tensor.element_size()


def _packed(tensor: torch.Tensor) -> torch.Tensor:
    low, high = _span(tensor)
    if high - low <= SPARSE * tensor.numel() * tensor.element_size():
        return tensor
    return tensor.clone(memory_format=torch.preserve_format)


def meta_like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def looks(tensor: torch.Tensor) -> tuple:
    return tensor.shape, tensor.stride(), tensor.dtype


def _put_data(parameter):
    def put(tensor):
        parameter.data = tensor

    return put


def _put_inner(owner, attribute):
    return lambda tensor: setattr(owner, attribute, tensor)


def plain_tensors(tensor, put):
    """The plain tensors that a tensor is made of, with how each is put back, and how it is built of others."""
    if not compat.is_wrapper_subclass(tensor):
        return [(tensor.data, put)], None
    names, context = tensor.__tensor_flatten__()
    parts, builders = [], []
    for name in names:
        inner = getattr(tensor, name)
        found, build = plain_tensors(inner, _put_inner(tensor, name))
        parts += found
        builders.append((name, len(found), build))
    kind, size, stride = type(tensor), tensor.size(), tensor.stride()

    def rebuild(tensors):
        inner, at = {}, 0
        for name, count, build in builders:
            inner[name] = tensors[at] if build is None else build(tensors[at:at + count])
            at += count
        return kind.__tensor_unflatten__(inner, context, size, stride)

    return parts, compat.as_one_node(rebuild)


class Layout:
    """Items and slots of a model's units."""

    def __init__(self):
        self.items: list[Item] = []
        self._by_storage: dict[int, list[Item]] = {}
        self._moved: dict[tuple, torch.Tensor] = {}

    def slot(self, module: nn.Module, name: str, path: str, parameter: nn.Parameter) -> Slot:
        slot = Slot(module, name, path, parameter, device=parameter.device, version=parameter._version)
        parts, slot.build = plain_tensors(parameter, _put_data(parameter))
        for number, (tensor, put) in enumerate(parts):
            label = path if slot.build is None else f"{path}#{number}"
            slot.leaves.append(self._leaf(label, tensor, put))
        return slot

    def _host(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in host memory, shared where the tensors were."""
        if tensor.device.type == "cpu":
            return tensor
        storage = tensor.untyped_storage()
        key = (storage.data_ptr(), str(tensor.device))
        if key not in self._moved:
            flat = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
            self._moved[key] = flat.cpu()
        moved = torch.empty(0, dtype=tensor.dtype)
        return moved.set_(self._moved[key].untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())

    def _leaf(self, label: str, tensor: torch.Tensor, put) -> Leaf:
        if tensor.device.type == "meta":
            raise ValueError(f'hoist.torch.offload: parameter "{label}" is on meta (load it first, or use hoist.torch.load)')
        tensor = self._host(_packed(tensor))
        low, high = _span(tensor)
        item = self._item(label, tensor.untyped_storage(), low, high)
        return Leaf(item, low, meta_like(tensor), put)

    def _item(self, label: str, storage, low: int, high: int) -> Item:
        same = self._by_storage.setdefault(storage.data_ptr(), [])
        overlapping = [item for item in same if item.low < high and low < item.high]
        if not overlapping:
            item = Item(label, storage, low, high)
            self.items.append(item)
            same.append(item)
            return item
        first = overlapping[0]
        first.low = min(low, *(item.low for item in overlapping))
        first.high = max(high, *(item.high for item in overlapping))
        for other in overlapping[1:]:
            other.within = first
            same.remove(other)
            self.items.remove(other)
        return first

    def finish(self, slots: list[Slot]) -> None:
        """Offsets become those within items, once all ranges are known."""
        for slot in slots:
            for leaf in slot.leaves:
                leaf.item = leaf.item.whole()
                leaf.offset -= leaf.item.low
        self._moved.clear()
        self._by_storage.clear()


class _Source:
    """Holds an item's storage for as long as the manager has not packed it."""

    def __init__(self, storage):
        self.storage = storage


def source_of(item: Item, packed) -> ctypes.Array:
    """A buffer over the item's bytes: the only thing that keeps its storage alive until it has been packed, which
    packed(bytes) is told."""
    source = _Source(item.storage)
    buffer = (ctypes.c_uint8 * item.bytes).from_address(item.storage.data_ptr() + item.low)
    buffer.keep = source
    item.source, item.storage = weakref.ref(source), None
    weakref.finalize(source, packed, item.bytes).atexit = False
    return buffer


def empty_out(slots: list[Slot]) -> None:
    """Takes the bytes from the parameters; the sources hold them."""
    for slot in slots:
        for leaf in slot.leaves:
            leaf.put(torch.empty(0, dtype=leaf.like.dtype))


def _at(storage, offset: int, like: torch.Tensor) -> torch.Tensor:
    return torch.empty(0, dtype=like.dtype).set_(storage, offset // like.element_size(), like.shape, like.stride())


class HostCopies:
    """Tensors over the manager's host memory, which they keep alive."""

    def __init__(self, native_manager):
        self._manager = native_manager
        self._storages: dict[int, torch.UntypedStorage] = {}

    def tensor(self, leaf: Leaf) -> torch.Tensor:
        item = leaf.item
        if id(item) not in self._storages:
            array = self._manager.host_view(item.tensor, "uint8")
            buffer = (ctypes.c_uint8 * item.bytes).from_address(array.ctypes.data)
            buffer.keep = array
            self._storages[id(item)] = torch.frombuffer(buffer, dtype=torch.uint8).untyped_storage()
        return _at(self._storages[id(item)], leaf.offset, leaf.like)


def show_host_copies(slots: list[Slot], native_manager) -> None:
    """The parameters look at the manager's host memory from now on."""
    copies = HostCopies(native_manager)
    for slot in slots:
        for leaf in slot.leaves:
            leaf.host = copies.tensor(leaf)
            leaf.put(leaf.host)
        slot.version = slot.parameter._version
        slot.host_at = slot.leaves[0].host.data_ptr() if slot.build is None else None


def give_back(slots: list[Slot], native_manager) -> None:
    """The parameters have bytes of their own again, where these were; what shared memory shares it again."""
    storages: dict[tuple, torch.UntypedStorage] = {}
    for slot in slots:
        for leaf in slot.leaves:
            key = (id(leaf.item), str(slot.device))
            if key not in storages:
                storages[key] = _own_bytes(leaf.item, native_manager, slot.device)
            low = 0 if leaf.item.source is None or leaf.item.source() is None else leaf.item.low
            whole = torch.empty(0, dtype=leaf.like.dtype, device=slot.device)
            leaf.put(whole.set_(storages[key], (leaf.offset + low) // leaf.like.element_size(), leaf.like.shape,
                                leaf.like.stride()))


def _own_bytes(item: Item, native_manager, device: torch.device):
    source = item.source() if item.source is not None else None
    if source is not None:  # never packed
        return torch.empty(0, dtype=torch.uint8).set_(source.storage).to(device).untyped_storage()
    room = torch.empty(item.bytes, dtype=torch.uint8)
    native_manager.read(item.tensor, room.numpy())
    return room.to(device).untyped_storage()
