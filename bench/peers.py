# SPDX-License-Identifier: Apache-2.0
"""Libraries that offload the modules of a model, as their own pages say, where they are installed."""

import sys

import torch
from decoder import layer_bytes


class Peer:
    """A library that offloads a model's modules, as its own pages say."""

    def __init__(self, offload, model):
        self.model = offload(model)

    def __call__(self, x):
        return self.model(x)

    def warm_up(self, x):
        for _ in range(getattr(self, "warm_steps", 2)):
            self(x)

    replan = warm_up

    def close(self):
        torch.cuda.synchronize()


def accelerate(model):
    from accelerate import cpu_offload

    return cpu_offload(model, execution_device=torch.device("cuda"))


def diffusers(model):
    from diffusers.hooks import apply_group_offloading

    apply_group_offloading(model, onload_device=torch.device("cuda"), offload_device=torch.device("cpu"),
                           offload_type="block_level", num_blocks_per_group=1, use_stream=True, record_stream=True)
    return model


def flextensor(model, budget_bytes=None, compile_fn=None):
    """Its share of the GPU is two layers, as the others hold, or a budget; it rounds up, hence 16 MiB beside."""
    import flextensor as ft

    budget = (budget_bytes or 2 * layer_bytes()) + (16 << 20)
    config = ft.OffloadConfig(include_patterns=["layers.*"], num_blocks=2, min_blocks=2,
                              max_gpu_mem_fraction=budget / torch.cuda.get_device_properties(0).total_memory)
    forget_flextensor()
    model = ft.offload(model, config, compile_fn=compile_fn)
    Peer.warm_steps = ft.get_offload_manager().iters_before_inference + 2
    return model


def forget_flextensor():
    """It keeps its last model alive."""
    if "flextensor" in sys.modules:
        sys.modules["flextensor"].release(preserve_model=False)


PEERS = {"accelerate": accelerate, "diffusers": diffusers, "flextensor": flextensor}
