# SPDX-License-Identifier: Apache-2.0
"""Writes a checkpoint of random weights for a config of transformers, however large: config.json, shards, their index.

    ./dev python bench/llm_checkpoint.py --config examples/python/tiny_decoder.json --out FOLDER [--layers 36 ...]

What stream_llm.py is measured with. Values are drawn on the GPU where there is one; a shard holds what a layer has.
"""

import argparse
import concurrent.futures
import json
import threading
from pathlib import Path

import safetensors.torch
import torch
import transformers

SIZES = {"layers": "num_hidden_layers", "hidden": "hidden_size", "inner": "intermediate_size", "heads": "num_attention_heads",
         "kv_heads": "num_key_value_heads", "vocabulary": "vocab_size"}
lock = threading.Lock()


def draw(shape, dtype, scale, generator):
    """A weight on the host; one of one dimension, which scales, is ones."""
    if len(shape) < 2:
        return torch.ones(shape, dtype=dtype)
    with lock:
        return torch.empty(shape, dtype=dtype, device=generator.device).normal_(0, scale, generator=generator).cpu()


def shard_of(name):
    """Tensors of one layer are together: "model.layers.7.mlp.up_proj.weight" is in shard 7."""
    return next((part for part in name.split(".") if part.isdigit()), "rest")


def write(config, out):
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config).to(config.dtype)
    shards, seen = {}, set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:  # tied ones once
            seen.add(id(tensor))
            shards.setdefault(shard_of(name), {})[name] = tensor
    generator = torch.Generator("cuda" if torch.cuda.is_available() else "cpu").manual_seed(0)

    def save(shard):
        tensors = {name: draw(like.shape, like.dtype, config.initializer_range, generator) for name, like in shards[shard].items()}
        safetensors.torch.save_file(tensors, out / f"model-{shard}.safetensors")
        return sum(tensor.nbytes for tensor in tensors.values())

    out.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        bytes_written = sum(pool.map(save, shards))
    index = {name: f"model-{shard}.safetensors" for shard, tensors in shards.items() for name in tensors}
    (out / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": bytes_written}, "weight_map": index}))
    config.save_pretrained(out)
    return bytes_written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--dtype", default="bfloat16")
    for name in SIZES:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    options = parser.parse_args()
    config = transformers.AutoConfig.from_pretrained(options.config)
    for name, field in SIZES.items():
        if getattr(options, name) is not None:
            setattr(config, field, getattr(options, name))
    config.dtype = getattr(torch, options.dtype)
    config.head_dim = config.hidden_size // config.num_attention_heads
    print(f"{write(config, options.out) / 1e9:.2f} GB in {options.out}")


if __name__ == "__main__":
    main()
