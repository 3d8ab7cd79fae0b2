# SPDX-License-Identifier: Apache-2.0
"""A BERT encoder in NumPy, in double precision: an independent reference for the demo, and small random weights."""

from math import erf

import numpy

HEAD = 32  # MiniLM's width of a head

Weights = dict[str, numpy.ndarray]


def random_weights(layers: int, hidden: int, inner: int, vocabulary: int, positions: int, seed: int) -> Weights:
    source = numpy.random.default_rng(seed)

    def draw(*shape: int, scale: float = 0.05, around: float = 0.0) -> numpy.ndarray:
        return (around + scale * source.standard_normal(shape)).astype(numpy.float32)

    weights = {f"embeddings.{name}_embeddings.weight": draw(rows, hidden) for name, rows in
               (("word", vocabulary), ("position", positions), ("token_type", 2))}
    norms = ["embeddings.LayerNorm"]
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            weights |= {f"{at}.{part}.weight": draw(hidden, hidden), f"{at}.{part}.bias": draw(hidden)}
        weights |= {f"{at}.intermediate.dense.weight": draw(inner, hidden), f"{at}.intermediate.dense.bias": draw(inner),
                    f"{at}.output.dense.weight": draw(hidden, inner), f"{at}.output.dense.bias": draw(hidden)}
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    for norm in norms:
        weights |= {f"{norm}.weight": draw(hidden, around=1.0), f"{norm}.bias": draw(hidden)}
    return weights


class Encoder:
    def __init__(self, weights: Weights):
        self.weights = {name: weight.astype(numpy.float64) for name, weight in weights.items()}

    def linear(self, name: str, values: numpy.ndarray) -> numpy.ndarray:
        return values @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name: str, values: numpy.ndarray) -> numpy.ndarray:
        centred = values - values.mean(axis=-1, keepdims=True)
        deviation = numpy.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, at: str, hidden: numpy.ndarray) -> numpy.ndarray:
        def heads(part: str) -> numpy.ndarray:
            return self.linear(f"{at}.self.{part}", hidden).reshape(len(hidden), -1, HEAD).transpose(1, 0, 2)

        scores = heads("query") @ heads("key").transpose(0, 2, 1) / HEAD ** 0.5
        shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = shares / shares.sum(axis=-1, keepdims=True) @ heads("value")
        return self.linear(f"{at}.output.dense", mixed.transpose(1, 0, 2).reshape(hidden.shape))

    def embed(self, ids: list[int]) -> numpy.ndarray:
        words, positions, types = (self.weights[f"embeddings.{name}_embeddings.weight"]
                                   for name in ("word", "position", "token_type"))
        hidden = self.norm("embeddings.LayerNorm", words[ids] + positions[:len(ids)] + types[0])
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self.weights:
            at = f"encoder.layer.{layer}"
            hidden = self.norm(f"{at}.attention.output.LayerNorm", hidden + self.attention(f"{at}.attention", hidden))
            inner = self.linear(f"{at}.intermediate.dense", hidden)
            inner = inner / 2 * (1 + numpy.vectorize(erf)(inner / 2 ** 0.5))
            hidden = self.norm(f"{at}.output.LayerNorm", hidden + self.linear(f"{at}.output.dense", inner))
            layer += 1
        mean = hidden.mean(axis=0)
        return mean / numpy.linalg.norm(mean)
