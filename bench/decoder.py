# SPDX-License-Identifier: Apache-2.0
"""The decoder that all benchmarks on a GPU stream, as a function and as a module, and how ten steps of it are timed."""

import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(print("bench: torch is not installed, nothing was measured"))

HIDDEN, INNER, HEADS, KV_HEADS, HEAD = 5120, 17408, 40, 8, 128
SHAPES = {"n1": (HIDDEN,), "q": (HEADS * HEAD, HIDDEN), "k": (KV_HEADS * HEAD, HIDDEN), "v": (KV_HEADS * HEAD, HIDDEN),
          "o": (HIDDEN, HEADS * HEAD), "n2": (HIDDEN,), "g": (INNER, HIDDEN), "u": (INNER, HIDDEN),
          "d": (HIDDEN, INNER)}


def shrink(hidden, inner, heads, kv_heads):
    """A decoder of the same kind, smaller; before any weights are made."""
    global HIDDEN, INNER, HEADS, KV_HEADS
    HIDDEN, INNER, HEADS, KV_HEADS = hidden, inner, heads, kv_heads
    q, kv = heads * HEAD, kv_heads * HEAD
    SHAPES.update({"n1": (hidden,), "q": (q, hidden), "k": (kv, hidden), "v": (kv, hidden), "o": (hidden, q), "n2": (hidden,),
                   "g": (inner, hidden), "u": (inner, hidden), "d": (hidden, inner)})


def block(x, w):
    """One decoder layer; w holds its weights by name."""
    batch, tokens, _ = x.shape
    y = F.rms_norm(x, (HIDDEN,), w["n1"])
    heads = [F.linear(y, w[name]).view(batch, tokens, -1, HEAD).transpose(1, 2) for name in "qkv"]
    a = F.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
    x = x + F.linear(a.transpose(1, 2).reshape(batch, tokens, -1), w["o"])
    y = F.rms_norm(x, (HIDDEN,), w["n2"])
    return x + F.linear(F.silu(F.linear(y, w["g"])) * F.linear(y, w["u"]), w["d"])


def layer_bytes(names=SHAPES):
    return sum(2 * torch.Size(SHAPES[name]).numel() for name in names)


def make_weights(layers, device="cuda"):
    generator = torch.Generator(device=device).manual_seed(0)
    stack = []
    for _ in range(layers):
        layer = {}
        for name, shape in SHAPES.items():
            if len(shape) == 1:
                layer[name] = torch.ones(shape, device=device, dtype=torch.bfloat16)
            else:
                layer[name] = 0.02 * torch.randn(shape, device=device, dtype=torch.bfloat16, generator=generator)
        stack.append(layer)
    return stack


def ten_steps_ms(step, x, steps=10):
    """The mean step of ten back to back, by events around all of them, amid steps: what was copied ahead is no gift."""
    torch.cuda.synchronize()
    for _ in range(2):
        step(x)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(steps):
        y = step(x)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / steps, y


def h2d_bytes_per_ms():
    """As `links_bench` does: the best of five copies of 1 GiB."""
    host = torch.empty(1 << 30, dtype=torch.uint8, pin_memory=True)
    device = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    best = min(ten_steps_ms(lambda _: device.copy_(host, non_blocking=True), None, 1)[0] for _ in range(5))
    return host.nbytes / best


class Layer(torch.nn.Module):
    """The same layer as a module, for those that offload modules."""

    def __init__(self, weights):
        super().__init__()
        for name, value in weights.items():
            self.register_parameter(name, torch.nn.Parameter(value, requires_grad=False))

    def forward(self, x):
        return block(x, {name: getattr(self, name) for name in SHAPES})


class Model(torch.nn.Module):
    def __init__(self, stack):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(weights) for weights in stack)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
