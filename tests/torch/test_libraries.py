# SPDX-License-Identifier: Apache-2.0
"""What other libraries make of a model: torchao's quantized tensors, peft's adapters."""

import copy

import peft
import pytest
import torch
import transformers
from torch._dynamo.utils import counters
from torchao import quantization

import hoist.torch as ht
from models import Stack, ids


def quantized(config):
    torch.manual_seed(0)
    model = Stack(width=64, blocks=3).eval().requires_grad_(False)
    quantization.quantize_(model, getattr(quantization, config)())
    return model


@pytest.mark.parametrize("config", ["Int8WeightOnlyConfig", "Int8DynamicActivationInt8WeightConfig"])
@torch.no_grad()
def test_quantized_tensors_of_torchao(offload, config):
    model = quantized(config)
    want, kinds = model(ids()), {name: type(p.data) for name, p in model.named_parameters()}
    resident = torch.compile(model, fullgraph=True)(ids())  # rounds activations as the compiler's arithmetic has it
    torch._dynamo.reset()
    offload(model, "60%")
    linear = model.blocks[0].up
    assert len([slot for slot in ht.manager(model).slots if slot.build is not None]) == 7
    for _ in range(6):
        assert torch.equal(model(ids()), want)
    counters.clear()
    compiled = torch.compile(model, fullgraph=True)
    for _ in range(4):
        torch.testing.assert_close(compiled(ids()), resident, rtol=1e-3, atol=1e-3)
    assert counters["stats"]["unique_graphs"] == 1 and not counters["graph_break"]
    assert torch.equal(copy.deepcopy(model)(ids()), want)
    ht.manager(model).release()
    assert {name: type(p.data) for name, p in model.named_parameters()} == kinds and linear is model.blocks[0].up
    assert torch.equal(model(ids()), want)


def test_adapters_of_peft(offload):
    def make():
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            hidden_size=32, intermediate_size=64, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1,
            vocab_size=64, max_position_embeddings=32))
        return peft.get_peft_model(model, peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"],
                                                          init_lora_weights=False, lora_dropout=0.0))

    def train(model, run, steps=4):
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
        for _ in range(steps):
            run(ids(2, 8), labels=ids(2, 8), use_cache=False).loss.backward()
            gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
            optimizer.step()
            optimizer.zero_grad()
        return gradients

    plain, model = make(), offload(make())
    want, got = train(plain, plain), train(model, model)
    assert got.keys() == want.keys() and all("lora" in name for name in got)
    assert all(torch.equal(got[name], want[name]) for name in got)
    counters.clear()
    run = torch.compile(model, fullgraph=True)
    torch.testing.assert_close(train(model, run), train(plain, plain), rtol=1e-3, atol=1e-5)
    assert counters["stats"]["unique_graphs"] == 1
    with model.disable_adapter(), plain.disable_adapter(), torch.no_grad():
        torch.testing.assert_close(model(ids(2, 8)).logits, plain(ids(2, 8)).logits)
    ht.manager(model).release()
    with torch.no_grad():
        torch.testing.assert_close(model.merge_and_unload()(ids(2, 8)).logits, plain(ids(2, 8)).logits, rtol=1e-3, atol=1e-4)
