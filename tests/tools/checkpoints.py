# SPDX-License-Identifier: Apache-2.0
"""Checkpoints for tests, written by safetensors itself; bytes are random but seeded, so no two tensors are equal."""

import json
from pathlib import Path

import numpy
import safetensors

# The names that safetensors' serializer takes, and bits of an element.
DTYPES = {"F32": ("float32", 32), "BF16": ("bfloat16", 16), "F16": ("float16", 16), "F64": ("float64", 64),
          "F8_E4M3": ("float8_e4m3fn", 8), "F8_E5M2": ("float8_e5m2", 8), "I8": ("int8", 8), "U8": ("uint8", 8),
          "I64": ("int64", 64), "I32": ("int32", 32), "I16": ("int16", 16), "BOOL": ("bool", 8)}

Tensors = dict[str, tuple[str, list[int]]]  # name: dtype, shape

VIRTUAL = "host:0?mode=virtual&h2d_gbps=55&d2h_gbps=55&latency_us=5"


def size(dtype: str, shape: list[int]) -> int:
    elements = 1
    for extent in shape:
        elements *= extent
    return elements * DTYPES[dtype][1] // 8


def total_bytes(tensors: Tensors) -> int:
    return sum(size(*tensor) for tensor in tensors.values())


def save(path: Path, tensors: Tensors, seed: int = 0) -> Path:
    source = numpy.random.default_rng(seed)
    bytes_of = {name: source.integers(0, 256, size(*tensor), numpy.uint8) for name, tensor in tensors.items()}
    specs = {name: safetensors.TensorSpec(dtype=DTYPES[dtype][0], shape=shape, data_ptr=bytes_of[name].ctypes.data,
                                          data_len=size(dtype, shape)) for name, (dtype, shape) in tensors.items()}
    safetensors.serialize_file(specs, str(path), {"format": "pt"})  # reads bytes_of
    return path


def save_sharded(folder: Path, tensors: Tensors, shards: int) -> Path:
    """As large models are published: neighbouring tensors share a shard, an index names each one's."""
    names = list(tensors)
    weight_map = {}
    for number in range(shards):
        shard = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        mine = names[number * len(names) // shards:(number + 1) * len(names) // shards]
        save(folder / shard, {name: tensors[name] for name in mine}, seed=number)
        weight_map |= {name: shard for name in mine}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": total_bytes(tensors)}, "weight_map": weight_map}))
    return index


def decoder_layer(prefix: str, dtype: str, hidden: int, inner: int) -> Tensors:
    """Nine tensors, as in the decoders of the day: seven matrices and two norms."""
    square = {f"{prefix}.self_attn.{part}_proj.weight": (dtype, [hidden, hidden]) for part in "qkvo"}
    wide = {f"{prefix}.mlp.{part}_proj.weight": (dtype, [inner, hidden]) for part in ("gate", "up")}
    narrow = {f"{prefix}.mlp.down_proj.weight": (dtype, [hidden, inner])}
    norms = {f"{prefix}.{part}_layernorm.weight": (dtype, [hidden]) for part in ("input", "post_attention")}
    return square | wide | narrow | norms


def decoder(layers: int, dtype: str = "BF16", hidden: int = 256, inner: int = 704) -> Tensors:
    """Layers that are all alike, and nothing else."""
    tensors: Tensors = {}
    for layer in range(layers):
        tensors |= decoder_layer(f"model.layers.{layer}", dtype, hidden, inner)
    return tensors


def language_model(layers: int, dtype: str = "BF16", vocabulary: int = 3000, hidden: int = 256) -> Tensors:
    """A decoder with what comes before and after its layers."""
    return ({"model.embed_tokens.weight": (dtype, [vocabulary, hidden])} | decoder(layers, dtype, hidden)
            | {"model.norm.weight": (dtype, [hidden]), "lm_head.weight": (dtype, [vocabulary, hidden])})
