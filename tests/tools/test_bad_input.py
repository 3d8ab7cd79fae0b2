# SPDX-License-Identifier: Apache-2.0
"""What cannot be is refused with one line that names it and says what would do; statuses 2 and 3."""

import json
import re
from pathlib import Path

import checkpoints
import pytest
from checkpoints import VIRTUAL


@pytest.fixture
def model(tmp_path):
    return checkpoints.save(tmp_path / "m.safetensors", checkpoints.decoder(8, hidden=64, inner=64))


def edit_header(path, change) -> None:
    contents = path.read_bytes()
    length = int.from_bytes(contents[:8], "little")
    header = json.loads(contents[8:8 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + contents[8 + length:])


NAME = "model.layers.3.mlp.up_proj.weight"


def overlap(header):
    header[NAME]["data_offsets"] = [at - 64 for at in header[NAME]["data_offsets"]]


def unknown_dtype(header):
    header[NAME]["dtype"] = "F7"


def lie(header):
    header[NAME]["shape"][0] += 1


def beyond(header):
    header[NAME]["data_offsets"] = [1 << 40, (1 << 40) + 8192]


def hole(header):
    del header[NAME]


@pytest.mark.parametrize("command", ["stream", "checkpoint"])
@pytest.mark.parametrize("change, words", [(overlap, ["overlap"]), (unknown_dtype, [NAME, "unknown dtype 'F7'"]),
                                           (lie, [NAME, "shape"]), (beyond, [NAME, "the file holds"]),
                                           (hole, ["no tensor has the"])])
def test_lying_headers(program, model, command, change, words):
    edit_header(model, change)
    more = ["--budget", "40%"] if command == "stream" else []
    program(command, model, *more).refused(2, "m.safetensors", "byte ", *words)


@pytest.mark.parametrize("length", [0, 5, 8, 100, -1, -4096])
def test_truncated(program, model, length):
    model.write_bytes(model.read_bytes()[:length])
    program("stream", model, "--budget", "40%").refused(2, "m.safetensors", "byte ")


def test_a_header_longer_than_allowed(program, model):
    model.write_bytes((100_000_001).to_bytes(8, "little") + model.read_bytes()[8:])
    program("stream", model, "--budget", "40%").refused(2, "claims 100000001 bytes", "at most 100000000")


def test_a_name_twice(program, tmp_path):
    entry = '"a":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}'
    text = ("{" + entry % (0, 1) + "," + entry % (1, 2) + "}").encode()
    path = tmp_path / "m.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"xy")
    program("checkpoint", path).refused(2, "'a' comes twice")


def test_missing_shard(program, tmp_path):
    index = checkpoints.save_sharded(tmp_path, checkpoints.decoder(6, hidden=64, inner=64), 3)
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    program("stream", index, "--budget", "40%").refused(2, "model-00002-of-00003.safetensors", "does not exist")


def test_a_tensor_that_its_shard_lacks(program, tmp_path):
    index = checkpoints.save_sharded(tmp_path, checkpoints.decoder(6, hidden=64, inner=64), 2)
    document = json.loads(index.read_text())
    document["weight_map"]["model.layers.77.ghost"] = "model-00001-of-00002.safetensors"
    index.write_text(json.dumps(document))
    program("stream", index, "--budget", "40%").refused(2, "model.layers.77.ghost", "model-00001-of-00002")


def test_files_that_are_none(program, tmp_path):
    program("stream", tmp_path / "none.safetensors", "--budget", "40%").refused(2, "none.safetensors")
    program("stream", tmp_path, "--budget", "40%").refused(2, "is a folder")
    (tmp_path / "empty.safetensors").write_bytes(b"\x02" + bytes(7) + b"{}")
    program("stream", tmp_path / "empty.safetensors", "--budget", "40%").refused(2, "no tensors")


def test_names_cannot_break_the_line(program, tmp_path):
    text = rb'{"a\n\u001b[31mhoist: fine":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}}'
    path = tmp_path / "m.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"x")
    ran = program("checkpoint", path)
    ran.refused(2, "unknown dtype")
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("arguments, words", [
    (["--budgt", "40%"], ["--budgt", "'--budget'"]),
    (["--budget", "40x"], ["40x"]),
    (["--budget", "-5%"], ["-5%"]),
    (["--budget", "200%"], ["'200%'", "100%"]),
    (["--budget", "0"], ["0"]),
    (["--budget", ""], ["--budget: it is empty", "a share (40%) or bytes (8GiB)"]),
    (["--budget"], ["--budget needs a value: Device memory for weights"]),
    (["--budget", "40"], ["40 bytes", "--budget 40%"]),
    (["--budget", "40%", "--trace", ""], ["--trace", "name a file"]),
    (["--budget", "40%", "--compute-us", "x"], ["--compute-us: 'x' is not a number from 0 to 1000000000"]),
    (["--budget", "40%", "--steps", "0"], ["--steps: '0' is not a whole number from 1 to 1000000"]),
    (["--budget", "40%", "--steps", "many"], ["--steps: 'many' is not a whole number from 1 to 1000000"]),
    (["--budget", "40%", "--steps", "2", "--steps", "3"], ["--steps is given 2 times"]),
    (["--budget", "40%", "--compute-us"], ["--compute-us needs a value: Compute time of each unit, waited for or modelled ("]),
    (["--budget", "40%", "--json=much"], ["--json takes no value"]),
    (["--budget", "40%", "--compute-us", "-1"], ["--compute-us"]),
    (["--budget", "40%", "--compute-us", "nan"], ["--compute-us"]),
    (["--budget", "40%", "--unit", "model.layrs.*"], ["model.layrs.*", "'model.layers.*'"]),
    (["--budget", "40%", "--device", "hst:0"], ["hst"]),
    (["--budget", "40%", "--device", "host:7"], ["host:7"]),
    (["--budget", "40%", "--device", "host:0?mode=virtul"], ["virtul"]),
    (["--budget", "40%", "--device", "host:0?h2d_gps=5"], ["h2d_gps", "h2d_gbps"]),
    (["--budget", "40%", "--device", "host:0?mode=virtual&h2d_gbps=1e-300"], ["h2d_gbps is '1e-300'", "0, or a number from"]),
    (["--budget", "40%", "--device", "./libnpu.so"], ["HOIST_DEVICE_PLUGINS=./libnpu.so ", "kind:index", "hoist info"]),
    (["--budget", "40%", "--device", "libnpu.so.1:0?memory=1GiB"], ["HOIST_DEVICE_PLUGINS=./libnpu.so.1 "]),
    (["--budget", "40%", "--trace", "/nonexistent/trace.json"], ["/nonexistent/trace.json"]),
    ([], ["--budget is missing: Device memory for weights: a share (40%) or bytes (8GiB) (see"]),
])
def test_options(program, model, arguments, words):
    program("stream", model, *arguments).refused(2, *words)


def test_commands(program):
    program("strem").refused(2, "strem", "'stream'")
    program("bench", "links", "cuda:0").refused(2, "'cuda:0' is one argument too many", "--device")
    program("bench", "links", "--devise", "cuda:0").refused(2, "'--devise'", "'--device'")
    program().refused(2, "hoist --help", "stream, checkpoint, plan")
    program("-v").refused(2, "'-v'", "'--version'")
    program("checkpoint", "").refused(2, "FILE", "name a file")
    program("plan").refused(2, "PROBLEM is missing: JSON as")
    program("bench", "links", "--largest", "3QB").refused(2, "--largest: '3QB' is not a number of bytes, such as 64MiB")
    program("device-check", "host:0", "--timeout", "x").refused(2, "--timeout: 'x' is not a number from 0.1 to 3600")
    program("plan", "p", "--out", "o", "--effort", "-1").refused(2, "--effort: '-1' is not a whole number from 0 to")
    assert program("--help").status == 0
    assert program("stream", "--help").status == 0


def test_a_budget_below_the_largest_unit_names_the_smallest(program, model):
    ran = program("stream", model, "--budget", "10%", "--device", VIRTUAL)
    ran.refused(3, "unit \"model.layers.")
    smallest = max(int(word) for word in ran.err.replace(";", " ").split() if word.isdigit())
    fits = program("stream", model, "--budget", smallest, "--device", VIRTUAL, "--json").json()
    assert fits["checksum"] == "ok" and fits["bytes"]["h2d"] > 0
    program("stream", model, "--budget", smallest - 512, "--device", VIRTUAL).refused(3, str(smallest))


@pytest.mark.parametrize("command", [["info"], ["bench", "links"], ["device-check", "host:0"], ["stream", None, "--budget", "40%"]])
def test_an_unknown_name_in_the_environment(program, model, command):
    command = [model if word is None else word for word in command]
    program(*command, HOIST_LOGG="debug").refused(2, "HOIST_LOGG is unknown", "'HOIST_LOG'")
    program(*command, HOIST_TRUST="perhaps").refused(2, "HOIST_TRUST is 'perhaps'", "give 1 or 0")


def test_every_option_of_a_budget_is_known_in_the_environment(program, model):
    header = (Path(__file__).parents[2] / "include/hoist/budget.h").read_text()
    struct = re.search(r"struct hoist_budget_options_t \{(.*?)\n\}", header, re.S).group(1)
    fields = re.findall(r"^  \w+ (\w+);", struct, re.M)
    assert "placement" in fields and len(fields) > 8
    values = {"budget_share": "50%", "budget_bytes": "300000", "placement": "slots", "pinned_limit_bytes": "1GiB"}
    for field in fields[1:]:
        ran = program("stream", model, "--budget", "60%", "--device", VIRTUAL, "--steps", 1, "--json",
                      **{"HOIST_" + field.upper(): values.get(field, "1")})
        assert ran.json()["checksum"] == "ok", field
