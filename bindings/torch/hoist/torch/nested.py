# SPDX-License-Identifier: Apache-2.0
"""The tensors within arguments and results."""

import torch

from hoist.torch import compat


def first_tensor(args: tuple, kwargs: dict) -> "torch.Tensor | None":
    """A tensor that enters, for what comes after it to depend on."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            return value
    return None


def leaves(out) -> list[torch.Tensor]:
    """The tensors of a result."""
    if isinstance(out, torch.Tensor):
        return [out]
    return [leaf for leaf in compat.tree_leaves(out) if isinstance(leaf, torch.Tensor)]
