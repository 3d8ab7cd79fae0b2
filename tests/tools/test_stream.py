# SPDX-License-Identifier: Apache-2.0
"""hoist stream on checkpoints of many kinds: every byte right, the ledger right, the step as predicted."""

import json

import checkpoints
import pytest
from checkpoints import VIRTUAL

FIELDS = ["units", "tensors", "weight_bytes", "budget_bytes", "peak_bytes", "steps", "step_us", "predicted_step_us",
          "bound_us", "bytes", "mispredictions", "checksum", "checked", "device", "phase"]


def stream(program, model, budget, *more, device=VIRTUAL):
    return program("stream", model, "--budget", budget, "--device", device, "--json", *more).json()


def expect_right(report, tensors, budget_share):
    """What holds of every run: all bytes compared, moved where and only where the budget asks for it, peak in it."""
    assert list(report) == FIELDS
    assert report["checksum"] == "ok"
    assert report["phase"] == "serving"
    assert report["mispredictions"] == 0
    assert report["tensors"] == len(tensors)
    assert report["weight_bytes"] == checkpoints.total_bytes(tensors)
    assert report["peak_bytes"] <= report["budget_bytes"]
    assert report["bytes"]["d2h"] == 0
    if budget_share < 1:
        assert 0 < report["bytes"]["h2d"] <= report["weight_bytes"]
        # What does not fit has to come again in every step.
        assert report["bytes"]["h2d"] >= (report["weight_bytes"] - report["budget_bytes"]) * 0.99
    else:
        assert report["bytes"]["h2d"] == 0


@pytest.fixture(scope="module")
def uniform(tmp_path_factory):
    tensors = checkpoints.decoder(20)
    return checkpoints.save(tmp_path_factory.mktemp("uniform") / "m.safetensors", tensors), tensors


@pytest.mark.parametrize("percent", [10, 20, 30, 40, 50, 60, 75, 90, 99, 100])
def test_uniform_layers_at_any_budget(program, uniform, percent):
    model, tensors = uniform
    report = stream(program, model, f"{percent}%")
    expect_right(report, tensors, percent / 100)
    assert report["units"] == 20
    assert report["step_us"] == pytest.approx(report["predicted_step_us"], rel=0.01)
    if percent >= 20:  # at 10 % two layers are all that fits: while one computes, only one can be on its way
        assert report["step_us"] <= 1.02 * report["bound_us"]
    assert report["step_us"] >= 0.999 * report["bound_us"]


@pytest.mark.parametrize("percent", [15, 40, 70, 100])
def test_step_where_compute_is_given(program, uniform, percent):
    model, tensors = uniform
    report = stream(program, model, f"{percent}%", "--compute-us", "5000", "--steps", "4")
    expect_right(report, tensors, percent / 100)
    assert report["steps"] == 4
    assert report["step_us"] == pytest.approx(20 * 5000, rel=0.02)
    assert report["step_us"] == pytest.approx(report["predicted_step_us"], rel=0.01)


def test_without_compute_the_link_is_what_a_step_takes(program, uniform):
    model, tensors = uniform
    report = stream(program, model, "50%", "--compute-us", "0")
    expect_right(report, tensors, 0.5)
    assert report["step_us"] >= report["bytes"]["h2d"] / 55e3  # 55 GB/s
    assert report["step_us"] == pytest.approx(report["predicted_step_us"], rel=0.01)


@pytest.mark.parametrize("percent", [35, 100])
@pytest.mark.parametrize("dtype", ["BF16", "F16", "F32", "F8_E4M3", "F8_E5M2", "I8", "F64", "I64", "BOOL"])
def test_element_types(program, tmp_path, dtype, percent):
    tensors = checkpoints.decoder(12, dtype, hidden=64, inner=160)
    report = stream(program, checkpoints.save(tmp_path / "m.safetensors", tensors), f"{percent}%", "--steps", "3")
    expect_right(report, tensors, percent / 100)


def test_mixed_types_share_a_layer(program, tmp_path):
    tensors = {}
    for layer in range(8):
        tensors |= {f"h.{layer}.q.weight": ("I8", [256, 255]), f"h.{layer}.q.scale": ("F32", [256]),
                    f"h.{layer}.q.zero": ("F16", [256, 1]), f"h.{layer}.norm": ("BF16", [255]),
                    f"h.{layer}.step": ("I64", []), f"h.{layer}.mask": ("BOOL", [17])}
    report = stream(program, checkpoints.save(tmp_path / "m.safetensors", tensors), "40%")
    expect_right(report, tensors, 0.4)
    assert report["units"] == 8


@pytest.mark.parametrize("percent", [30, 60, 100])
def test_shards(program, tmp_path, percent):
    tensors = checkpoints.language_model(10)
    report = stream(program, checkpoints.save_sharded(tmp_path, tensors, 4), f"{percent}%")
    expect_right(report, tensors, percent / 100)
    assert report["units"] == 13  # embeddings, layers, norm, head


def test_odd_sizes(program, tmp_path):
    """Sizes that are no multiple of anything: 1 byte and up, prime numbers, one short of a page and one over."""
    sizes = [1, 2, 3, 5, 7, 511, 513, 1021, 4093, 4095, 4097, 65537]
    tensors = {f"blocks.{i}.w{n}": ("U8", [n]) for i in range(6) for n in sizes}
    for percent in (25, 50, 100):
        report = stream(program, checkpoints.save(tmp_path / "m.safetensors", tensors), f"{percent}%")
        expect_right(report, tensors, percent / 100)


def test_zero_bytes(program, tmp_path):
    tensors = checkpoints.decoder(6, hidden=64, inner=64)
    tensors |= {f"model.layers.{i}.none": ("F32", [0, 3]) for i in range(6)}
    tensors |= {"model.layers.9.only_nothing": ("BF16", [0])}  # a unit without a byte
    report = stream(program, checkpoints.save(tmp_path / "m.safetensors", tensors), "50%")
    expect_right(report, tensors, 0.5)
    assert report["units"] == 7


def test_nothing_but_zero_bytes(program, tmp_path):
    tensors = {"a.0.x": ("F32", [0]), "a.1.x": ("F32", [0, 5])}
    report = stream(program, checkpoints.save(tmp_path / "m.safetensors", tensors), "100%")
    assert report["checksum"] == "ok"
    assert report["bytes"] == {"h2d": 0, "d2h": 0}


def test_a_single_unit_stays(program, tmp_path):
    tensors = checkpoints.decoder(1)
    model = checkpoints.save(tmp_path / "m.safetensors", tensors)
    expect_right(stream(program, model, "100%"), tensors, 1)
    refused = program("stream", model, "--budget", "60%", "--device", VIRTUAL)
    refused.refused(3, "budget", "model.layers.0")


def test_names_that_are_tied_stay_two(program, tmp_path):
    """Equal bytes under two names, as tied embeddings are when a writer does not drop one."""
    tensors = checkpoints.language_model(6)
    model = tmp_path / "m.safetensors"
    checkpoints.save(model, tensors)
    contents = bytearray(model.read_bytes())
    header_bytes = int.from_bytes(contents[:8], "little")
    header = json.loads(contents[8:8 + header_bytes])
    spans = [[8 + header_bytes + at for at in header[name]["data_offsets"]]
             for name in ("model.embed_tokens.weight", "lm_head.weight")]
    contents[spans[1][0]:spans[1][1]] = contents[spans[0][0]:spans[0][1]]
    model.write_bytes(contents)
    expect_right(stream(program, model, "50%"), tensors, 0.5)


def test_a_hundred_thousand_tensors(program, tmp_path):
    tensors = {f"model.layers.{layer}.t{i}": ("I8", [3]) for layer in range(1000) for i in range(100)}
    model = checkpoints.save(tmp_path / "m.safetensors", tensors)
    for percent in (50, 100):
        report = stream(program, model, f"{percent}%", "--steps", "2")
        assert report["checksum"] == "ok"
        assert report["tensors"] == 100_000 and report["units"] == 1000
        assert (report["bytes"]["h2d"] > 0) == (percent < 100)


@pytest.mark.parametrize("mode", ["inline", "threaded", "guarded"])
def test_real_clocks(program, tmp_path, mode):
    tensors = checkpoints.language_model(8, hidden=128, vocabulary=500)
    model = checkpoints.save(tmp_path / "m.safetensors", tensors)
    for percent in (40, 100):
        report = stream(program, model, f"{percent}%", "--steps", "4", "--compute-us", "300",
                        device=f"host:0?mode={mode}")
        expect_right(report, tensors, percent / 100)
        assert report["step_us"] >= report["units"] * 300


def test_which_steps_are_checked(program, uniform, stand_in):
    """The timed ones where the sums fit into what a unit computes, else as many more, with a time of their own."""
    model, tensors = uniform
    within = stream(program, model, "40%", "--steps", "2", "--compute-us", "20000", device="host:0")
    expect_right(within, tensors, 0.4)
    assert within["checked"] == {"steps": 2, "step_us": within["step_us"], "timed": True}
    for more, steps in ([], 3), (["--check-steps", "2"], 2):
        after = stream(program, model, "40%", "--steps", "3", "--compute-us", "0", *more, device="host:0")
        expect_right(after, tensors, 0.4)
        assert after["checked"]["steps"] == steps and not after["checked"]["timed"]
    by_copy = program("stream", model, "--device", "cuda:0", "--json", "--steps", "3", "--budget", "40%", **stand_in).json()
    assert by_copy["checked"]["steps"] == 3 and not by_copy["checked"]["timed"]
    text = program("stream", model, "--budget", "40%", "--device", "host:0", "--compute-us", "0", "--steps", "2").out
    assert "checksum  ok in each of 2 more steps of " in text, text


def test_a_budget_in_bytes(program, uniform):
    model, tensors = uniform
    report = stream(program, model, "12MiB")
    assert report["budget_bytes"] == 12 << 20
    expect_right(report, tensors, 0.5)


def test_units_by_glob(program, uniform):
    model, tensors = uniform
    parts = stream(program, model, "40%", "--unit", "model.layers.*.mlp", "--unit", "model.layers.*.self_attn")
    assert parts["units"] == 60  # of each layer these two, and its norms
    expect_right(parts, tensors, 0.4)
    whole = stream(program, model, "100%", "--unit", "model.*")
    assert whole["units"] == 1
    expect_right(whole, tensors, 1)


def test_trace_and_explanation(program, uniform, tmp_path):
    model, tensors = uniform
    trace = tmp_path / "trace.json"
    report = program("stream", model, "--budget", "40%", "--device", VIRTUAL, "--json", "--explain", "--trace",
                     trace).json()
    assert len(report["explain"]) >= len(tensors)
    assert any("model.layers.7.mlp.up_proj.weight" in line for line in report["explain"])
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum("model.layers.7" in event.get("name", "") for event in events) >= report["steps"]


def test_a_clock_without_a_speed_says_so_instead_of_times(program, uniform):
    model, _ = uniform
    out = program("stream", model, "--budget", "40%", "--device", "host:0?mode=virtual").out
    assert "host:0?mode=virtual&h2d_gbps=55" in out and "bound" not in out and "beat" not in out
    report = program("stream", model, "--budget", "40%", "--device", "host:0?mode=virtual", "--json").json()
    assert "h2d_gbps" in report["note"]


def test_lines_for_people(program, uniform):
    ran = program("stream", uniform[0], "--budget", "40%", "--device", VIRTUAL)
    assert ran.status == 0 and ran.err == ""
    for word in ("180 tensors in 20 units", "of BF16", "of the bound", "checksum  ok", "peak"):
        assert word in ran.out, ran.out


def test_a_device_that_moves_no_bytes_says_so(program, uniform):
    report = stream(program, uniform[0], "40%", device=VIRTUAL + "&bytes=none")
    assert report["checksum"] == "unchecked"
    assert report["bytes"]["h2d"] > 0


def test_a_device_whose_memory_is_not_the_hosts(program, uniform, stand_in, fault):
    """There each tensor comes back by a copy to be compared."""
    model, tensors = uniform
    arguments = ["stream", model, "--device", "cuda:0", "--json", "--steps", "2", "--compute-us", "300", "--budget"]
    for percent in (40, 100):
        expect_right(program(*arguments, f"{percent}%", **stand_in).json(), tensors, percent / 100)
    name = "model.layers.7.mlp.gate_proj.weight"
    wrong = program(*arguments, "40%", **stand_in, **fault(name, 1))
    assert wrong.status == 1 and json.loads(wrong.out)["checksum"] == name


@pytest.mark.parametrize("device", [VIRTUAL, "host:0"])
@pytest.mark.parametrize("percent", [40, 100])
def test_one_wrong_bit_is_seen(program, uniform, fault, device, percent):
    name = "model.layers.13.self_attn.k_proj.weight"
    ran = program("stream", uniform[0], "--budget", f"{percent}%", "--device", device, "--json", "--steps", "2",
                  **fault(name, 1))
    assert ran.status == 1
    assert json.loads(ran.out)["checksum"] == name
    assert name in ran.err and ran.err.count("\n") == 1


def test_times_of_units(program, uniform):
    model, _ = uniform
    report = stream(program, model, "40%", "--compute-us", "500", "--steps", "6", "--timing")
    timing = report["timing"]
    assert len(timing) == report["units"]
    for unit in timing:
        assert unit["steps"] == 6
        assert unit["compute_us"] == pytest.approx([500] * 3)
        assert 0 <= unit["wait_us"][0] <= unit["wait_us"][1] <= unit["wait_us"][2]
    # The copies of a step, each counted for the unit that they are for.
    assert sum(unit["transfer_bytes"] for unit in timing) == report["bytes"]["h2d"]
    assert sum(unit["transfer_us"][1] for unit in timing) <= report["step_us"] * 1.001
    ran = program("stream", model, "--budget", "40%", "--device", VIRTUAL, "--steps", "2", "--timing")
    assert ran.status == 0 and "compute | transfer | wait" in ran.out


def test_pinning_that_is_refused_is_reported(program, uniform, stand_in):
    model, _ = uniform
    ran = program("stream", model, "--budget", "60%", "--device", "cuda:0", "--compute-us", "0", "--steps", "2", "--json",
                  **stand_in, STAND_IN_CUDA="refuses-pinning")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["pageable_bytes"] > 0
