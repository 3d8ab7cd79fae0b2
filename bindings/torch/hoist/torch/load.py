# SPDX-License-Identifier: Apache-2.0
"""load(model, path): a model on meta gets the bytes of a safetensors checkpoint, mapped and not read.

offload then packs them into pinned memory unit by unit, so that the host never holds them twice.
"""

import warnings
import weakref

import torch
from torch import nn

import hoist

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
          "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2}


def _mapped(checkpoint: hoist.Checkpoint, name: str, like: torch.Tensor) -> torch.Tensor:
    found = checkpoint[checkpoint.index(name)]
    if tuple(found.shape) != tuple(like.shape) or DTYPES.get(found.dtype) != like.dtype:
        raise ValueError(f'hoist.torch.load: "{name}" is {found.dtype} {list(found.shape)} in {found.file}, and {like.dtype} '
                         f"{list(like.shape)} in the model (make the model with that dtype and shape)")
    if like.numel() == 0:
        return torch.empty(like.shape, dtype=like.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mapping is read-only, and nothing writes into it before it is packed
        return torch.frombuffer(found, dtype=like.dtype).view(like.shape)


_progress: "weakref.WeakKeyDictionary[nn.Module, object]" = weakref.WeakKeyDictionary()


def progress_of(model: nn.Module):
    """How offload shows the reading of what load has mapped."""
    return _progress.pop(model, None)


def load(model: nn.Module, path, *, progress=None) -> nn.Module:
    """Gives parameters and buffers of a model on meta their bytes; call offload(model, ...) next.

    progress: True for a bar, or a function (bytes done, bytes in all), shown by offload, since nothing is read before.

    hoist.NotFoundError names the nearest tensor where one is missing; ValueError where dtype or shape differ. Tied
    parameters stay tied, and one name of them in the file is enough."""
    checkpoint = hoist.Checkpoint(path)
    names = {tensor.name for tensor in checkpoint}
    groups: dict[int, list] = {}
    for prefix, module in model.named_modules():
        for table in (module._parameters, module._buffers):
            for name, tensor in table.items():
                if tensor is not None and tensor.device.type == "meta":
                    groups.setdefault(id(tensor), []).append((f"{prefix}.{name}".lstrip("."), table, name, tensor))
    for group in groups.values():
        full = next((path_ for path_, *_ in group if path_ in names), group[0][0])
        made = _mapped(checkpoint, full, group[0][3])
        like = group[0][3]
        made = nn.Parameter(made, like.requires_grad) if isinstance(like, nn.Parameter) else made.clone()
        for _, table, name, _ in group:
            table[name] = made
    _progress[model] = progress
    return model
