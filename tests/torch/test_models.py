# SPDX-License-Identifier: Apache-2.0
"""Unmodified models of transformers and diffusers, in eager and as one graph."""

import pytest
import torch
from torch._dynamo.utils import counters

import hoist.torch as ht

transformers = pytest.importorskip("transformers")
diffusers = pytest.importorskip("diffusers")


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def decoder():
    config = transformers.LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=4,
                                      num_key_value_heads=2, vocab_size=100, max_position_embeddings=64,
                                      tie_word_embeddings=True)
    return transformers.LlamaForCausalLM(config).eval()


def two_streams():
    return diffusers.FluxTransformer2DModel(
        in_channels=4, num_layers=2, num_single_layers=2, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=32, pooled_projection_dim=32, axes_dims_rope=(4, 4, 8)).eval()


def stream_inputs():
    torch.manual_seed(3)
    return {"hidden_states": torch.randn(1, 9, 4), "encoder_hidden_states": torch.randn(1, 5, 32),
            "pooled_projections": torch.randn(1, 32), "timestep": torch.tensor([0.5]),
            "img_ids": torch.zeros(9, 3), "txt_ids": torch.zeros(5, 3), "return_dict": False}


def decode(model, call, steps=10):
    """Ten tokens, one by one, with a static cache; their logits."""
    cache = transformers.StaticCache(config=model.config, max_cache_len=32, max_batch_size=1)
    cache.early_initialization(1, 2, 16, torch.float32, torch.device("cpu"))
    token, logits = torch.tensor([[7]]), []
    for step in range(steps):
        out = call(token, past_key_values=cache, use_cache=True, cache_position=torch.tensor([step])).logits
        logits.append(out.clone())
        token = out[:, -1:].argmax(-1)
    return torch.cat(logits)


def test_a_decoder_generates(offload):
    model = decoder()
    prompt = torch.tensor([[1, 2, 3]])
    want = model.generate(prompt, max_new_tokens=6, do_sample=False)
    offload(model)
    assert [unit.name for unit in ht.manager(model).units][:2] == ["model.embed_tokens", "model.layers.0"]
    for _ in range(2):
        assert torch.equal(model.generate(prompt, max_new_tokens=6, do_sample=False), want)


def test_a_decoder_with_its_cache_as_one_graph(offload):
    model = decoder()
    want = decode(model, model)
    results = []
    for budget in ("100%", "50%"):
        torch._dynamo.reset()
        counters.clear()
        offload(model, budget)
        results.append(decode(model, torch.compile(model, fullgraph=True)))
        assert counters["stats"]["unique_graphs"] == 1 and not counters["graph_break"]
        ht.manager(model).release()
    torch.testing.assert_close(results[0], want, rtol=1e-3, atol=1e-4)
    assert torch.equal(results[0], results[1])


def test_two_streams_as_one_graph(offload):
    model, inputs = two_streams(), stream_inputs()
    want = model(**inputs)[0]
    results = []
    for budget in ("100%", "50%"):
        torch._dynamo.reset()
        counters.clear()
        offload(model, budget)
        assert torch.equal(model(**inputs)[0], want)
        compiled = torch.compile(model, fullgraph=True)
        first = compiled(**inputs)[0]
        for _ in range(9):
            assert torch.equal(compiled(**inputs)[0], first)
        results.append(first)
        assert counters["stats"]["unique_graphs"] == 1 and not counters["graph_break"]
        ht.manager(model).release()
    torch.testing.assert_close(results[0], want, rtol=1e-3, atol=1e-4)
    assert torch.equal(results[0], results[1])
