# SPDX-License-Identifier: Apache-2.0
"""hoist's and torch's names of devices."""

import torch


def resolve_device(device) -> tuple[str, torch.device]:
    """hoist's and torch's name of a device; None: cuda where there is one, else the host device."""
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "host:0"
    name = f"cuda:{device}" if isinstance(device, int) else str(device)
    if name.startswith("host"):
        return name, torch.device("cpu")
    if name == "cpu":
        return "host:0", torch.device("cpu")
    try:
        made = torch.device(name)
    except RuntimeError:
        raise ValueError(f'hoist.torch: there is no device "{name}" (give "cuda", "cuda:1", or a device in host memory, such as '
                         '"host:0")') from None
    if made.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f'hoist.torch: torch sees no CUDA device for "{name}" (give "host:0", or look at '
                         "torch.cuda.is_available())")
    if made.type == "cuda" and made.index is None:
        made = torch.device("cuda", torch.cuda.current_device())
    return str(made), made
