# SPDX-License-Identifier: Apache-2.0
"""Small models that tests share."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Stack(nn.Module):
    """An embedding, blocks, a head, and a loose parameter."""

    def __init__(self, width: int = 64, blocks: int = 6, vocabulary: int = 50):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = nn.Linear(width, vocabulary)
        self.scale = nn.Parameter(torch.full((width,), 1.5))

    def forward(self, ids):
        x = self.embed(ids) * self.scale
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def ids(rows: int = 2, length: int = 8) -> torch.Tensor:
    return torch.arange(rows * length).reshape(rows, length) % 50


def bytes_of(model: nn.Module) -> dict[str, bytes]:
    """Every tensor of the state, as bytes."""
    return {name: bytes(tensor.detach().contiguous().flatten().view(torch.uint8).numpy())
            for name, tensor in model.state_dict().items()}


def check(model, *args, steps=6, **kwargs):
    """The offloaded model gives what it gave before, step after step."""
    want = kwargs.pop("want")
    for _ in range(steps):
        assert torch.equal(model(*args, **kwargs), want)


class Listed(nn.Module):
    """Modules one after the other."""

    def __init__(self, *modules):
        super().__init__()
        self.parts = nn.ModuleList(modules)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
