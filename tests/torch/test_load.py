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
    told = []
    assert ht.load(model, tmp_path / "model.safetensors", progress=lambda *bytes_: told.append(bytes_)) is model
    assert model.head.weight is model.embed.weight
    with torch.no_grad():
        want = plain(ids())
        offload(model, "50%")
        for _ in range(6):
            assert torch.equal(model(ids()), want)
    assert bytes_of(model) == bytes_of(plain)
    total = sum(item.bytes for item in ht.manager(model).items)
    assert [done for done, _ in told] == sorted({done for done, _ in told}) and told[-1] == (total, total)


def test_a_bar(offload, capsys):
    offload(Stack(), progress=True)
    shown = capsys.readouterr().err
    assert shown.endswith("GB/s\n") and "#" * 30 in shown


@pytest.mark.long
def test_two_gigabytes(offload, tmp_path):
    """A checkpoint of 2 GB, loaded and streamed under 30 %, each result compared; the host holds the weights once."""
    def rss():
        fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return int(fields["RssAnon"].split()[0]) << 10

    with torch.no_grad():
        plain = Stack(width=2048, blocks=60).bfloat16()
        save_file(dict(plain.state_dict()), tmp_path / "model.safetensors")
        want = plain(ids())
        weights = sum(p.nbytes for p in plain.parameters())
        assert weights > 2e9
        with torch.device("meta"):
            model = Stack(width=2048, blocks=60).bfloat16()
        before = rss()
        offload(ht.load(model, tmp_path / "model.safetensors"), "30%")
        assert rss() - before < 1.5 * weights
        for _ in range(ht.manager(model).steps_before_serving + 3):
            assert torch.equal(model(ids()), want)
        status = ht.manager(model).query()
        assert status.peak_bytes < 0.31 * weights and status.last_step_h2d_bytes > 0.6 * weights


def test_what_does_not_fit_is_named(tmp_path):
    save_file(dict(Stack().state_dict()), tmp_path / "model.safetensors")
    with torch.device("meta"):
        wide, long = Stack(width=32), Stack(blocks=7)
    with pytest.raises(ValueError, match='"scale" is F32'):
        ht.load(wide, tmp_path / "model.safetensors")
    with pytest.raises(hoist.errors.NotFoundError, match="blocks.6"):
        ht.load(long, tmp_path / "model.safetensors")
