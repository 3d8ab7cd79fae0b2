# SPDX-License-Identifier: Apache-2.0
"""hoist's and torch's names of devices."""

import torch


def resolve_device(device) -> tuple[str, torch.device]:
    """hoist's and torch's name of a device; None: cuda where there is one, else the host device."""
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "host:0"
    name = str(device)
    if name.startswith("host"):
        return name, torch.device("cpu")
    if name == "cpu":
        return "host:0", torch.device("cpu")
    made = torch.device(name)
    if made.type == "cuda" and made.index is None:
        made = torch.device("cuda", torch.cuda.current_device())
    return str(made), made
