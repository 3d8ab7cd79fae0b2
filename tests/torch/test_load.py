# SPDX-License-Identifier: Apache-2.0
"""Checkpoints become streamed models without a copy on the way."""

import pytest
import torch
from safetensors.torch import save_file

import hoist
import hoist.torch as ht
from models import Stack, bytes_of, ids


def test_a_model_on_meta_is_loaded_and_streamed(offload, tmp_path):
    plain = Stack()
    plain.head.weight = plain.embed.weight
    state = {name: tensor for name, tensor in plain.state_dict().items() if name != "head.weight"}
    save_file(state, tmp_path / "model.safetensors")
    with torch.device("meta"):
        model = Stack()
        model.head.weight = model.embed.weight
    assert ht.load(model, tmp_path / "model.safetensors") is model and model.head.weight is model.embed.weight
    with torch.no_grad():
        want = plain(ids())
        offload(model, "50%")
        for _ in range(6):
            assert torch.equal(model(ids()), want)
    assert bytes_of(model) == bytes_of(plain)


def test_what_does_not_fit_is_named(tmp_path):
    save_file(dict(Stack().state_dict()), tmp_path / "model.safetensors")
    with torch.device("meta"):
        wide, long = Stack(width=32), Stack(blocks=7)
    with pytest.raises(ValueError, match='"scale" is F32'):
        ht.load(wide, tmp_path / "model.safetensors")
    with pytest.raises(hoist.errors.NotFoundError, match="blocks.6"):
        ht.load(long, tmp_path / "model.safetensors")
