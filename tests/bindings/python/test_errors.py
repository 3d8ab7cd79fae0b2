# SPDX-License-Identifier: Apache-2.0
import pickle
import re
from pathlib import Path

import hoist
import pytest

STATUS_H = Path(__file__).resolve().parents[3] / "include/hoist/status.h"


def test_each_status_has_a_class_of_its_own():
    names = re.findall(r"\b(HOIST_ERROR_\w+) = (\d+)", STATUS_H.read_text())
    assert len(names) >= 17
    made = [hoist.errors._make(int(code), name, "m", "w", "h") for name, code in names]
    assert hoist.Error not in {type(error) for error in made}
    assert len({type(error) for error in made}) == len(names)
    assert [hoist.status_string(int(code)) for _, code in names] == [name for name, _ in names]


def test_an_unknown_status_is_a_plain_error():
    assert type(hoist.errors._make(99, "HOIST_ERROR_UNKNOWN", "m", "w", "")) is hoist.Error


def test_failures_carry_the_record():
    with pytest.raises(hoist.NotFoundError) as caught:
        hoist.Device("hots:0")
    error = caught.value
    assert (error.code, error.name, error.where) == (3, "HOIST_ERROR_NOT_FOUND", "hoist_device_open")
    assert "hots" in error.message
    assert str(error) == f"{error.where}: {error.message}" + (f" ({error.hint})" if error.hint else "")
    assert isinstance(error, LookupError)


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(hoist.InvalidArgumentError, match="profile_steps"):
        hoist.Budget(hoist.Device("host:0"), profile_step=1)


def test_a_share_above_all_is_refused(ring):
    with pytest.raises(hoist.InvalidArgumentError, match="option budget is '200%'.*up to 100%"):
        hoist.Budget(ring.device, budget="200%")
    with pytest.raises(hoist.InvalidArgumentError, match="budget_share is 1.00000001 .*up to 1"):
        ring.budget.set_share(1.00000001)


def test_a_budget_is_set_as_the_option_takes_it_and_reserved_bytes_count(ring):
    budget = hoist.Budget(ring.device, budget="1MiB")
    budget.reserve(1 << 18)
    assert budget.query().budget_bytes == 3 << 18 and budget.query().reserved_bytes == 1 << 18
    budget.set("2MiB")
    assert budget.query().budget_bytes == 7 << 18
    with pytest.raises(hoist.InvalidArgumentError, match="option budget is '200%'.*up to 100%"):
        budget.set("200%")
    with pytest.raises(hoist.InvalidArgumentError, match="more than the 262144 reserved"):
        budget.release((1 << 18) + 1)
    budget.release(1 << 18)
    assert budget.query().budget_bytes == 2 << 20
    budget.set("50%")
    assert budget.query().budget_bytes == 0  # of no tensors


def test_hints_name_no_calls_of_another_language(ring):
    manager = hoist.Manager(ring.device, hoist.Budget(ring.device))
    with pytest.raises(hoist.InvalidStateError) as caught:
        with manager.step(ring.stream):
            pass
    assert caught.value.hint == "add units, then commit the manager"


def test_errors_survive_pickling():
    error = hoist.BusyError(8, "HOIST_ERROR_BUSY", "message", "where", "hint")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is hoist.BusyError
    assert str(again) == str(error) and again.hint == "hint"


def test_the_log_goes_to_a_callable():
    lines = []
    hoist.log_set(hoist.LogLevel.INFO, lambda level, message: lines.append((level, message)))
    try:
        device = hoist.Device("host:0?mode=inline")
        manager = hoist.Manager(device, hoist.Budget(device, profile_steps=1))
        unit = manager.add_unit("u")
        manager.add_zero(unit, "w", 4096)
        manager.commit()
        stream = hoist.Stream(device)
        for _ in range(4):
            with manager.step(stream) as step, step.unit(unit):
                pass
    finally:
        hoist.log_set(hoist.LogLevel.WARNING, None)
    assert any(level == hoist.LogLevel.INFO and "units" in message for level, message in lines)
    count = len(lines)
    with pytest.raises(hoist.Error):
        hoist.Device("nothing:0")
    assert len(lines) == count


def test_the_library_is_the_one_of_the_headers():
    assert hoist.version_abi() >= 1
    assert hoist.__version__ == (STATUS_H.parents[2] / "VERSION").read_text().strip()


@pytest.mark.parametrize("call, says", [
    (lambda budget: hoist.Budget("host:0"), "device is 'host:0', of type str .*hoist.Device\\('host:0'\\)"),
    (lambda budget: hoist.Budget(3), "device is 3, of type int .*hoist.Device"),
    (lambda budget: budget.reserve("1MiB"), "bytes is '1MiB', of type str .*number of bytes"),
    (lambda budget: budget.release(-1), "bytes is -1, of type int .*0 or more"),
    (lambda budget: budget.set_bytes("1MiB"), "bytes is '1MiB', of type str .*set\\(\\), which takes"),
    (lambda budget: budget.set_share("60%"), "share is '60%', of type str .*set\\(\\)"),
    (lambda budget: budget.set(0.6), "budget is 0.6, of type float .*60%"),
])
def test_values_of_another_type_are_named(call, says):
    with pytest.raises(hoist.errors.InvalidArgumentError, match=says):
        call(hoist.Budget(hoist.Device("host:0"), budget="60%"))
