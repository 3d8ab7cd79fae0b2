# SPDX-License-Identifier: Apache-2.0
import hoist
import pytest


@pytest.fixture
def device():
    return hoist.Device("host:0?mode=threaded")


def test_effects_run_in_order_or_not_at_all(device):
    sequence, stream, ran = hoist.Sequence(device, "graph"), hoist.Stream(device), []
    first = sequence.add("reload", lambda given: ran.append(("reload", given)))
    second = sequence.add("offload", lambda given: ran.append(("offload", given)))
    token = sequence.begin()
    with pytest.raises(hoist.OrderError, match='"offload".* came where effect 0 .*"reload"'):
        sequence.submit(second, token)
    assert not ran
    token = sequence.submit(first, token, stream)
    with pytest.raises(hoist.OrderError, match='"offload"'):
        sequence.end(token)
    sequence.end(sequence.submit(second, token))
    assert ran == [("reload", stream), ("offload", None)]
    status = sequence.query()
    assert (status.effect_count, status.runs, status.submitted, status.refused, status.is_open) == (2, 1, 2, 2, False)
    assert (status.aborted_runs, status.due, status.stream_changes) == (0, 0, 0)


def test_what_an_effect_raises_comes_out_and_the_run_stays(device):
    sequence, failures = hoist.Sequence(device, "graph"), [ZeroDivisionError("once")]

    def act(stream):
        if failures:
            raise failures.pop()

    effect = sequence.add("act", act)
    token = sequence.begin()
    with pytest.raises(ZeroDivisionError, match="once"):
        sequence.submit(effect, token)
    sequence.end(sequence.submit(effect, token))
    sequence.begin()
    with pytest.raises(hoist.InvalidStateError, match="is open"):
        sequence.begin()
    sequence.abort()
    assert sequence.query().aborted_runs == 1
