# SPDX-License-Identifier: Apache-2.0
"""What passes ask of a node of a graph."""

import operator

import torch


def is_tensor(node: torch.fx.Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def looks_at(node: torch.fx.Node) -> bool:
    """Whether the node gives a part of an input, without memory of its own."""
    if node.target in (operator.getitem, torch.ops.aten._unsafe_view.default):  # whose schema does not say so
        return True
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(r.alias_info is not None for r in schema.returns)
