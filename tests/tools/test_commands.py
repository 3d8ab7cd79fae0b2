# SPDX-License-Identifier: Apache-2.0
"""hoist info, checkpoint, plan and simulate."""

import json
import subprocess

import checkpoints
import pytest


def problem(budget: int) -> dict:
    size = 1 << 20
    return {"version": 1, "device": {"budget_bytes": budget, "alignment": 512},
            "links": {"h2d": {"latency_us": 5.0, "bytes_per_us": 1000.0}, "d2h": {"latency_us": 5.0, "bytes_per_us": 1000.0},
                      "peer": {"latency_us": 5.0, "bytes_per_us": 1000.0}},
            "duplex_factor": 1.0, "cyclic": True,
            "units": [{"name": f"u{i}", "compute_us": 1500.0, "workspace_bytes": 0} for i in range(6)],
            "items": [{"name": f"w{i}", "bytes": size, "class": "weight", "link": "h2d", "transient": False,
                       "uses": [{"unit": i, "mode": "r"}]} for i in range(6)]}


@pytest.fixture
def problem_file(tmp_path):
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(problem(3 << 20)))
    return path


def test_info(program):
    report = program("info", "--json").json()
    assert [device["name"] for device in report["devices"]][:2] == ["host:0", "host:1"]
    assert report["device_count"] >= len(report["devices"])
    assert report["version"] in program("--version").out
    assert "host:0" in program("info").out


def test_checkpoint_lists_what_safetensors_wrote(program, tmp_path):
    tensors = checkpoints.language_model(3, hidden=32, vocabulary=11) | {"scalar": ("F64", []), "none": ("I8", [0])}
    path = checkpoints.save(tmp_path / "m.safetensors", tensors)
    listed = program("checkpoint", path, "--json").json()["tensors"]
    assert {t["name"]: (t["dtype"], t["shape"]) for t in listed} == tensors
    assert all(t["bytes"] == checkpoints.size(t["dtype"], t["shape"]) for t in listed)
    ends = [t["offset"] + t["bytes"] for t in listed]
    assert [t["offset"] for t in listed][1:] == ends[:-1] and ends[-1] == path.stat().st_size
    assert f"{len(tensors)} tensors" in program("checkpoint", path).out


def test_plan_then_simulate(program, problem_file, tmp_path):
    plan, trace = tmp_path / "plan.json", tmp_path / "trace.json"
    ran = program("plan", problem_file, "--out", plan, "--explain")
    assert ran.status == 0, ran.err
    assert all(f"w{i}" in ran.out for i in range(6))
    document = json.loads(plan.read_text())
    assert document["version"] == 1 and document["ops"]
    report = program("simulate", problem_file, plan, "--trace", trace, "--json").json()
    assert report["step_us"] == pytest.approx(document["predicted"]["step_us"])
    assert report["step_us"] >= report["bound_us"] >= 6 * 1500.0
    assert 0 < report["h2d_bytes"] <= 6 << 20
    assert report["peak_bytes"] <= 3 << 20
    assert json.loads(trace.read_text())["traceEvents"]
    assert "bound" in program("simulate", problem_file, plan).out


def test_plans_are_equal_to_the_byte(program, problem_file, tmp_path):
    for name in ("a", "b"):
        assert program("plan", problem_file, "--out", tmp_path / name).status == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_plan_through_a_pipe(program, problem_file, tmp_path):
    assert program("plan", problem_file, "--out", tmp_path / "a").status == 0
    ran = program("plan", problem_file, "--out", "-", "--explain")
    assert ran.status == 0 and ran.out == (tmp_path / "a").read_text()
    assert "bound" in ran.err and 'unit 0 ("u0")' in ran.err


def test_a_problem_or_a_plan_from_standard_input(program, problem_file, tmp_path):
    plan = tmp_path / "plan.json"
    path = program("plan", problem_file, "--out", plan).path

    def piped(text, *arguments):
        return subprocess.run([path, *map(str, arguments)], input=text, capture_output=True, text=True)

    ran = piped(problem_file.read_text(), "plan", "-", "--out", "-")
    assert ran.returncode == 0 and ran.stdout == plan.read_text()
    wanted = program("simulate", problem_file, plan).out
    assert piped(problem_file.read_text(), "simulate", "-", plan).stdout == wanted
    assert piped(plan.read_text(), "simulate", problem_file, "-").stdout == wanted
    for text, words in (("", "standard input: problem is not JSON: line 1, column 1: the text ends"),
                        ('{"version": 2}', "standard input: problem.version is 2; this library reads version 1")):
        ran = piped(text, "plan", "-", "--out", "-")
        assert ran.returncode == 2 and words in ran.stderr and ran.stdout == ""
    program("simulate", "-", "-").refused(2, "PROBLEM and PLAN are both -")
    with open(tmp_path / "closed", "w") as writable:
        ran = subprocess.run([path, "plan", "-", "--out", "-"], stdin=writable, capture_output=True, text=True)
    assert ran.returncode == 2 and "cannot read standard input: " in ran.stderr


def test_absurd_numbers_name_the_unit_the_value_and_the_bound(program, problem_file, tmp_path):
    document, bad = json.loads(problem_file.read_text()), tmp_path / "bad.json"
    document["units"][1]["compute_us"] = 1e308
    bad.write_text(json.dumps(document))
    program("plan", bad, "--out", "-").refused(2, f"{bad}: unit \"u1\": compute_us is 1e+308", "from 0 to 1e+12 microseconds")


def test_what_is_wrong_in_a_file_names_the_file(program, problem_file, tmp_path):
    plan, bad = tmp_path / "plan.json", tmp_path / "bad.json"
    assert program("plan", problem_file, "--out", plan).status == 0
    bad.write_text("{}")
    program("plan", bad, "--out", "-").refused(2, f"{bad}: ")
    program("simulate", bad, plan).refused(2, f"{bad}: ")
    program("simulate", problem_file, bad).refused(2, f"{bad}: ")
    bad.write_text(json.dumps(problem(1 << 19)))
    program("plan", bad, "--out", "-").refused(3, f"{bad}: ")


def test_a_full_disk_behind_standard_output_is_no_success(program, problem_file):
    path = program("info").path
    for arguments in (["info"], ["plan", problem_file, "--out", "-"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([path, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and "hoist: cannot write standard output: No space left" in done.stderr


def test_a_plan_for_another_problem_is_refused(program, problem_file, tmp_path):
    plan, other = tmp_path / "plan.json", tmp_path / "other.json"
    assert program("plan", problem_file, "--out", plan).status == 0
    other.write_text(json.dumps(problem(4 << 20)))
    program("simulate", other, plan).refused(2, "sha256")


def test_a_plan_that_breaks_the_rules_is_refused(program, problem_file, tmp_path):
    plan = tmp_path / "plan.json"
    assert program("plan", problem_file, "--out", plan).status == 0
    document = json.loads(plan.read_text())
    document["ops"] = [op for op in document["ops"] if op["op"] != "load"]
    plan.write_text(json.dumps(document))
    program("simulate", problem_file, plan).refused(2)


def test_bad_files(program, problem_file, tmp_path):
    out = tmp_path / "plan.json"
    program("plan", tmp_path / "none.json", "--out", out).refused(2, "none.json")
    program("plan", tmp_path, "--out", out).refused(2, f"{tmp_path} is a folder")
    (tmp_path / "bad.json").write_text("{")
    program("plan", tmp_path / "bad.json", "--out", out).refused(2)
    program("plan", problem_file, "--out", tmp_path / "no" / "plan.json").refused(2, "no/plan.json")
    program("simulate", problem_file, problem_file).refused(2)


def test_an_infeasible_problem(program, tmp_path):
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(problem((1 << 20) - 512)))
    program("plan", path, "--out", tmp_path / "plan.json").refused(3, str(1 << 20))
    assert not (tmp_path / "plan.json").exists()


def test_bench_links_is_exact_on_the_virtual_clock(program):
    device = "host:0?mode=virtual&h2d_gbps=10&d2h_gbps=5&latency_us=2&duplex_factor=0.8&bytes=none&memory=1GiB"
    report = program("bench", "links", "--device", device, "--largest", "16MiB", "--json").json()
    (links,) = report["devices"]
    assert report["peers"] == [] and links["device"] == "host:0" and links["pinned"]
    assert len(links["curve"]) == 13  # doubling from 4 KiB
    for point in links["curve"]:
        assert point["h2d_us"] == pytest.approx(2 + point["bytes"] / 10e3)
        assert point["d2h_us"] == pytest.approx(2 + point["bytes"] / 5e3)
    up, down = (2 + links["large_bytes"] / rate for rate in (10e3, 5e3))
    assert links["both_us"] == pytest.approx(up / 0.8 + down - up, rel=1e-3)
    assert links["h2d_under_load_us"] >= up - 1e-6 and links["pinning_us"] > 0


def test_bench_links_for_people_and_between_devices(program):
    ran = program("bench", "links", "--device", "host:0", "--device", "host:1", "--largest", "1MiB")
    assert ran.status == 0, ran.err
    for words in ("host:0: ", "both ways at once", "while the device fills memory", "taken and pinned", "host:0 to host:1"):
        assert words in ran.out, ran.out


def test_bench_links_refuses_what_cannot_be(program):
    program("bench", "links", "--device", "cuda:9").refused(2, "cuda:9")
    program("bench", "links", "--largest", "3").refused(2, "--largest")
    program("bench", "lnks").refused(2, "links", "hoist bench --help")


def test_bench_links_where_pinning_is_refused(program, stand_in):
    environment = stand_in | {"STAND_IN_CUDA": "refuses-pinning"}
    ran = program("bench", "links", "--largest", "64KiB", "--json", **environment)
    assert ran.status == 0 and "refused to pin" in ran.err
    (links,) = json.loads(ran.out)["devices"]
    assert links["device"] == "cuda:0" and not links["pinned"] and links["pci_address"] == "0000:3b:00.0"
    assert "refused to pin" in program("bench", "links", "--largest", "64KiB", **environment).out
