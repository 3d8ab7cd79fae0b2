# SPDX-License-Identifier: Apache-2.0
"""A language model of Hugging Face generates with its weights resident, then streamed under a budget.

    ./dev python examples/python/stream_llm.py --model PATH_OR_CONFIG --budget 50%

PATH is a model's folder: its safetensors files are mapped, and packed unit by unit. A config (a JSON file, or a folder
that has no weights) gets random weights. Prints tokens a second and the device memory that the weights take, and says
whether tokens and logits are equal to the bit. On a GPU the fused attention of one token may add in any order, so that
not even the resident model repeats its bits; --attention eager does. --trace writes a timeline for ui.perfetto.dev.
"""

import argparse
import os
import sys
import time

import torch
import transformers
from accelerate import init_empty_weights

import hoist.torch as ht


def weights_of(path):
    """The file that hoist opens: a folder's index of shards, or its one file; None for a config."""
    names = ("model.safetensors.index.json", "model.safetensors")
    return next((file for file in (os.path.join(path, name) for name in names) if os.path.exists(file)), None)


def fill(model, device):
    """Random weights, the same at each call; norms are ones."""
    generator = torch.Generator(device).manual_seed(0)
    scale = getattr(model.config, "initializer_range", 0.02)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            drawn = torch.empty(parameter.shape, dtype=parameter.dtype, device=device).normal_(0, scale, generator=generator)
            parameter.data.copy_(drawn)
        else:
            parameter.data.fill_(1)


def make(path, device, attention=None):
    """The model with its weights on the host."""
    config = transformers.AutoConfig.from_pretrained(path)
    dtype = getattr(config, "dtype", None) or torch.float32
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype if isinstance(dtype, torch.dtype) else getattr(torch, dtype))
    try:
        with init_empty_weights(include_buffers=False):
            model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    finally:
        torch.set_default_dtype(before)
    model.tie_weights()
    file = weights_of(path)
    if file is not None:
        return ht.load(model, file).eval()
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None and parameter.is_meta:
                module._parameters[name] = torch.nn.Parameter(torch.empty_like(parameter, device="cpu"))
    model.tie_weights()
    fill(model, device)
    return model.eval()


def prompt_of(path, options, config):
    """Token ids of the prompt, and what turns ids into text where the model has a tokenizer."""
    if options.prompt is not None:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        return tokenizer(options.prompt, return_tensors="pt").input_ids, tokenizer.decode
    ids = torch.randint(config.vocab_size, (1, options.prompt_tokens), generator=torch.Generator().manual_seed(1))
    return ids, None


class Clock(transformers.generation.BaseStreamer):
    """When each token came to the host."""

    def __init__(self):
        self.times = []

    def put(self, value):
        self.times.append(time.perf_counter())  # the prompt first

    def end(self):
        pass


def generate(model, ids, tokens):
    """Greedy, with the KV cache: time to the first token, tokens a second after it, the sequence and all logits."""
    clock = Clock()
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False,
                         pad_token_id=0, return_dict_in_generate=True, output_logits=True, streamer=clock)
    begin, first, last = clock.times[0], clock.times[1], clock.times[-1]
    return first - begin, (tokens - 1) / (last - first), out.sequences[0].cpu(), torch.cat(out.logits).cpu()


def report(name, first, rate, gigabytes):
    print(f"{name:20} first token {first * 1e3:9.1f} ms, then {rate:8.2f} tokens/s; weights take {gigabytes:7.3f} GB of the device",
          flush=True)


def compare(what, want, got):
    """Says how far apart they are; the first token's logits come of the prompt, the others of one token and the cache."""
    if torch.equal(want[0], got[0]) and torch.equal(want[1], got[1]):
        print(f"{what}: equal to the bit", flush=True)
        return True
    far = [float((a.float() - b.float()).norm() / a.float().norm()) for a, b in zip(want[1], got[1])]
    same = int((want[0] == got[0]).long().cumprod(0).sum()) - len(want[0]) + len(far)
    print(f"{what}: NOT equal; {same} tokens alike, logits apart by {', '.join(f'{d:.1e}' for d in far[:8])}", flush=True)
    return False


def bytes_of(model):
    return sum(p.numel() * p.element_size() for p in model.parameters())


def streamed(options, ids, place):
    """The model under the budget; gives tokens and logits."""
    begin = time.perf_counter()
    model = make(options.model, place, options.attention)
    weights = bytes_of(model)
    ht.offload(model, options.budget, device=options.device)
    manager = ht.manager(model)
    print(f"{weights / 1e9:.3f} GB of weights in {len(manager.offload_units())} units, ready in {time.perf_counter() - begin:.1f} s", flush=True)
    while manager.steps_before_serving:
        generate(model, ids, 4)
    first, rate, sequence, logits = generate(model, ids, options.tokens)
    status = manager.query()
    report(f"streamed, {options.budget}", first, rate, status.peak_bytes / 1e9)
    print(f"budget {status.budget_bytes / 1e9:.3f} GB, {status.last_step_h2d_bytes / 1e9:.3f} GB moved a step, predicted "
          f"{status.predicted_step_us / 1e3:.2f} ms a step (bound {status.bound_us / 1e3:.2f})")
    if options.trace:
        manager.native.trace_begin(0)
        generate(model, ids, 4)
        manager.native.trace_end(options.trace)
        print(f"trace of 4 steps in {options.trace}")
    return sequence, logits  # without a release(), which would give the model bytes of its own once more


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, metavar="PATH_OR_CONFIG")
    parser.add_argument("--budget", default="50%", help='bytes, "24GiB", or a share of the weights')
    parser.add_argument("--device", help="cuda, or host:0; cuda where there is one")
    parser.add_argument("--prompt", help="text; without it, random tokens")
    parser.add_argument("--prompt-tokens", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=32, help="to generate")
    parser.add_argument("--trace", help="write a timeline there")
    parser.add_argument("--attention", choices=("eager", "sdpa"), help="transformers' implementation; its own choice without it")
    parser.add_argument("--no-resident", action="store_true", help="for a model that the device has no room for")
    return parser.parse_args()


def main():
    options = parse()
    options.device = options.device or ("cuda" if torch.cuda.is_available() else "host:0")
    place = "cuda" if options.device.startswith("cuda") else "cpu"
    ids, text = prompt_of(options.model, options, transformers.AutoConfig.from_pretrained(options.model))
    ids = ids.to(place)
    want, repeats = None, True
    with torch.no_grad():
        if not options.no_resident:
            model = make(options.model, place, options.attention).to(place)
            _, _, *before = generate(model, ids, options.tokens)
            first, rate, *want = generate(model, ids, options.tokens)
            report("resident", first, rate, bytes_of(model) / 1e9)
            repeats = compare("the resident model's own two runs", before, want)
            del model
            if place == "cuda":
                torch.cuda.empty_cache()
        sequence, logits = streamed(options, ids, place)
    if text is not None:
        print(text(sequence))
    if want is None:
        return 0
    if compare(f"{options.tokens} tokens and their logits", want, (sequence, logits)):
        return 0
    if not repeats:
        print("which says nothing where the resident model does not repeat itself: give --attention eager")
    return 1


if __name__ == "__main__":
    sys.exit(main())
