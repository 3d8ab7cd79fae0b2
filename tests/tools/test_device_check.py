# SPDX-License-Identifier: Apache-2.0
"""hoist device-check from outside: its report, its statuses, and that it quotes the headers word for word."""

import json
import re
from pathlib import Path

HEADERS = Path(__file__).resolve().parents[2] / "include/hoist"


def words(text):
    """One line, without what begins a line of a comment."""
    return re.sub(r"\s+", " ", re.sub(r"\n\s*\*(?!/)", " ", text))


def test_every_promise_is_a_sentence_of_the_headers(program):
    contract = words("".join((HEADERS / name).read_text() for name in ("device_ops.h", "device.h")))
    checks = program("device-check", "host:0?mode=inline", "--json").json()["checks"]
    assert len(checks) > 50
    for check in checks:
        assert check["promise"] in contract, check["id"]
    slots = set(re.findall(r"\(\*(\w+)\)\(", contract)) - {"error_set", "log", "hoist_host_fn_t",
                                                             "hoist_device_plugin_init_fn_t"}
    looked_at = {slot for check in checks for slot in re.split(r",\s*", check["slots"])}
    assert slots <= looked_at, f"no check looks at {slots - looked_at}"
    assert looked_at - {"all", "hoist_device_plugin_init"} <= slots


def test_a_report_for_people_and_for_programs(program):
    report = program("device-check", "host:1?mode=inline&memory=64MiB", "--json", "--only", "memory").json()
    assert report["pass"] and report["device"] == "host:1" and report["memory_bytes"] == 64 << 20
    assert report["failed"] == report["not_run"] == 0 and "HOST_ADDRESSABLE" in report["capabilities"]
    assert {check["id"].split(".")[0] for check in report["checks"]} > {"memory", "identity"}
    text = program("device-check", "host:0?mode=inline", "--only", "copies.batch").out
    assert "skip  batch" in text and "does not claim HOIST_CAPABILITY_BATCH" in text
    assert "promise" in program("device-check", "host:0?mode=inline", "--only", "events.poll", "--verbose").out
    assert "events.poll  (event_record, event_poll)" in program("device-check", "--list").out
    left_out = program("device-check", "host:0", "--only", "memory.info", "--except", "memory.info", "--json").json()
    assert [check["outcome"] for check in left_out["checks"] if check["id"] == "memory.info"] == ["skipped"]


def test_what_is_not_there_is_bad_input(program):
    for given, said in (("hst:0", "'host'"), ("host:9", "host:1"), ("host:0?mode=fast", "mode"), ("host", "neither"),
                        ("host:x", "index"), ("./nowhere.so", "./nowhere.so")):
        program("device-check", given).refused(2, said)
    program("device-check", "host:0", "--only", "evnts").refused(2, "'evnts'", "--list")
    program("device-check", "host:0", "--except", "evnts").refused(2, "'evnts'", "--list")


def test_a_library_that_is_no_plugin_fails_the_first_check(program, tmp_path):
    (tmp_path / "libnone.so").write_text("no library")
    ran = program("device-check", tmp_path / "libnone.so", "--json")
    assert ran.status == 1
    report = json.loads(ran.out)
    assert [check["id"] for check in report["checks"] if check["outcome"] == "failed"] == ["table.accepted"]
    assert "libnone.so" in report["checks"][0]["words"] and not report["pass"]
