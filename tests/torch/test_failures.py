# SPDX-License-Identifier: Apache-2.0
"""Exceptions in a forward, threads, several models."""

import threading
import weakref

import pytest
import torch
from torch import nn

import hoist
import hoist.torch as ht
from hoist.torch import native
from models import Block, Listed, Stack, ids


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def test_an_exception_in_a_forward(offload):
    class Failing(Block):
        fail = False

        def forward(self, x):
            x = self.up(x)
            if self.fail:
                raise ZeroDivisionError("mine")
            return self.down(x)

    model = Listed(Failing(16), Failing(16), Failing(16))
    x = torch.randn(2, 16)
    want = model(x)
    offload(model, "100%")
    for step in range(8):
        model.parts[1].fail = step % 2 == 1
        if model.parts[1].fail:
            with pytest.raises(ZeroDivisionError, match="mine"):
                model(x)
        else:
            assert torch.equal(model(x), want)
    assert ht.manager(model).query().aborted_steps == 4
    ht.manager(model).suspend()
    ht.manager(model).resume()
    model.parts[1].fail = False
    assert torch.equal(model(x), want)


def test_two_threads_take_turns(offload):
    model = Stack()
    inputs = [ids(1, 4), ids(3, 7)]
    wants = [model(i) for i in inputs]
    offload(model)
    wrong = []

    def work(mine):
        with torch.no_grad():
            for _ in range(15):
                if not torch.equal(model(inputs[mine]), wants[mine]):
                    wrong.append(mine)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)
    assert ht.manager(model).query().steps == 30


def test_two_models_do_not_see_each_other(offload):
    one, two = offload(Stack()), Stack()
    want = two(ids())
    offload(two)
    for _ in range(5):
        one(ids())
        assert torch.equal(two(ids()), want)
    ht.manager(one).release()
    assert torch.equal(two(ids()), want)


def test_threads_offload_models_of_one_layout_at_once(offload):
    models = [Stack() for _ in range(4)]
    wants = [model(ids()) for model in models]
    begin, right = threading.Barrier(len(models)), []

    def work(model, want):
        with torch.no_grad():
            begin.wait(60)
            offload(model)
            right.append(all(torch.equal(model(ids()), want) for _ in range(5)))

    threads = [threading.Thread(target=work, args=pair) for pair in zip(models, wants)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert right == [True] * 4 and len({ht.manager(model).key for model in models}) == 4


def test_python_that_runs_where_a_model_ends(offload):
    """A tensor of the model's goes with it, and whoever hears of that may ask for another model."""
    asked = []

    class Told(nn.Linear):
        def forward(self, x):
            weakref.finalize(self.weight, lambda: asked.append(native.awaits_backward(key)))
            return super().forward(x)

    model, other = (offload(Listed(Told(8, 8), Told(8, 8))) for _ in range(2))
    key = ht.manager(other).key
    model(torch.ones(2, 8))
    assert not asked
    ht.manager(model).release()
    assert asked == [False, False]


def test_another_thread_inside_the_budget_refuses_no_step(offload):
    """One that asks all the time how it stands, and gives reserved bytes back."""
    model, failures, stop = offload(Stack(), "128KiB"), [], threading.Event()
    budget = ht.manager(model).budget
    budget.reserve(1000)
    before = budget.query().reserved_bytes

    def run():
        with torch.no_grad():
            while not stop.is_set():
                try:
                    model(ids())
                except Exception as error:
                    failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(100):
        for _ in range(10):
            try:
                budget.query()
            except hoist.errors.BusyError:
                pass
        budget.release(10)
    stop.set()
    thread.join()
    assert not failures, failures[0]
    assert budget.query().reserved_bytes == before - 1000
