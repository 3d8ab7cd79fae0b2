# SPDX-License-Identifier: Apache-2.0
"""The demo on a small random encoder: streamed as resident to the bit, as NumPy to 1e-5, and failures are seen."""

import json
import re

import bert
import numpy
import pytest
from safetensors.numpy import load_file, save_file

VIRTUAL = "host:0?mode=virtual&h2d_gbps=1&d2h_gbps=1"


class Encoder:
    """Model, sentences and references in a folder, as the demo wants them."""

    def __init__(self, folder):
        self.folder = folder
        self.model = folder / "model.safetensors"
        self.data = folder / "data"
        self.data.mkdir()
        weights = bert.random_weights(layers=3, hidden=64, inner=192, vocabulary=5000, positions=40, seed=7)
        save_file(weights, self.model)
        source = numpy.random.default_rng(11)
        ids = [source.integers(0, 5000, length).tolist() for length in (1, 2, 17, 40)]
        (self.data / "sentences.txt").write_text("".join(f"sentence {i}\n" for i in range(len(ids))))
        reference = {f"ids.{i}": numpy.array(sentence, dtype=numpy.int64) for i, sentence in enumerate(ids)}
        encoder = bert.Encoder(weights)
        reference |= {f"embedding.{i}": encoder.embed(sentence).astype(numpy.float32) for i, sentence in enumerate(ids)}
        self.save(reference)

    def save(self, reference) -> None:
        save_file(reference, self.data / "reference.safetensors")

    def reference(self):
        return load_file(self.data / "reference.safetensors")


@pytest.fixture
def encoder(tmp_path):
    return Encoder(tmp_path)


def demo(program, encoder, *more, **environment):
    return program("--model", encoder.model, "--data", encoder.data, *more, **environment)


@pytest.mark.parametrize("device", ["host:0?mode=inline", "host:0?mode=threaded&copy_delay_us=500", "host:0?mode=guarded",
                                    VIRTUAL])
def test_streamed_equals_resident(program, encoder, device):
    ran = demo(program, encoder, "--budget", "40%", "--device", device, "--steps", "3")
    assert ran.status == 0, ran.out + ran.err
    assert "parity: exact" in ran.out
    moved = re.search(r"host to device (\S+) MB a step", ran.out)
    assert moved and float(moved.group(1)) > 0.5
    difference = re.search(r"largest difference to torch's embeddings (\S+),", ran.out)
    assert difference and 0 < float(difference.group(1)) <= 1e-5


def test_timeline_and_throttle(program, encoder, tmp_path):
    trace = tmp_path / "trace.json"
    ran = demo(program, encoder, "--budget", "50%", "--trace", trace, "--steps", "2")
    assert ran.status == 0, ran.out + ran.err
    assert "link throttled to" in ran.out and str(trace) in ran.out
    names = {event.get("name", "") for event in json.loads(trace.read_text())["traceEvents"]}
    assert any("encoder.layer.1.attention" in name for name in names)


def test_a_budget_that_streams_nothing_fails(program, encoder):
    ran = demo(program, encoder, "--budget", "100%", "--device", VIRTUAL)
    assert ran.status == 1
    assert "nothing moved" in ran.out


def test_a_wrong_reference_fails(program, encoder):
    reference = encoder.reference()
    reference["embedding.2"][5] += 2e-5
    encoder.save(reference)
    ran = demo(program, encoder, "--budget", "40%", "--device", VIRTUAL)
    assert ran.status == 1
    assert "ABOVE 1e-05" in ran.out


def test_another_weight_is_another_embedding(program, encoder):
    """The reference check sees every unit: one row of a word chunk, one bias of the last layer."""
    weights = load_file(encoder.model)
    row = int(encoder.reference()["ids.0"][0])
    for name, place in (("embeddings.word_embeddings.weight", (row, 3)), ("encoder.layer.2.output.dense.bias", (9,))):
        changed = {key: value.copy() for key, value in weights.items()}
        changed[name][place] += 0.05
        save_file(changed, encoder.model)
        ran = demo(program, encoder, "--budget", "40%", "--device", VIRTUAL)
        assert ran.status == 1 and "ABOVE" in ran.out, name


def test_a_bit_that_differs_from_the_resident_run_is_seen(program, encoder, fault):
    """The last bit of a weight: far below what the reference check can see."""
    for manager in (1, 2):  # the resident run's, the streamed one's
        ran = demo(program, encoder, "--budget", "40%", "--device", VIRTUAL,
                   **fault("encoder.layer.2.output.LayerNorm.weight", manager))
        assert ran.status == 1
        assert "within 1e-05" in ran.out
        assert "parity: DIFFERS at step 0, sentence " in ran.out
        assert "parity: exact" not in ran.out


@pytest.mark.parametrize("named", [["--device", "cuda:0"], []])
def test_a_gpu_without_what_computes_on_it_is_left(program, encoder, stand_in, named):
    ran = demo(program, encoder, "--budget", "40%", *named, **stand_in)
    assert ran.status == 0, ran.out + ran.err
    assert "is here, but " in ran.out and "using host:0 instead" in ran.out and "parity: exact" in ran.out


def test_bad_input(program, encoder, tmp_path):
    too_small = demo(program, encoder, "--budget", "1%")
    assert too_small.status == 3 and "smallest" in too_small.err
    assert program("--model", tmp_path / "none", "--data", encoder.data).status == 2
    assert program("--model", encoder.model).status == 2
    assert demo(program, encoder, "--bugdet", "4").status == 2
    assert demo(program, encoder, "--steps", "0").status == 2
    assert demo(program, encoder, "--device", "host:0?mode=virtual&bytes=none").status == 2
    reference = encoder.reference()
    reference["ids.1"][0] = 5000
    encoder.save(reference)
    outside = demo(program, encoder)
    assert outside.status == 2 and "sentence 1" in outside.err
