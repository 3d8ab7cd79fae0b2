# SPDX-License-Identifier: Apache-2.0
"""Whose step a backward is part of: the one of its own forward where that still waits, else one of its own.

Every case gives the gradients of the resident model to the bit, eager and compiled. Trust mode fills with NaN what a plan
has freed, so that a backward in another's step would show."""

import copy
import gc
import threading

import pytest
import torch
import torch._functorch.config as functorch

import hoist.torch as ht
from models import Block, Listed


def inputs(number):
    return torch.linspace(-1, 1 + number, 4 * 16).reshape(4, 16)


def make():
    torch.manual_seed(3)
    return Listed(*(Block(16) for _ in range(4)))


class Case:
    """A model, how it is run, and the gradients of what came of it."""

    def __init__(self, model, run):
        self.model, self.run = model, run

    def loss(self, number):
        return self.run(inputs(number)).square().sum()

    def gradients(self, loss, **options):
        return torch.autograd.grad(loss, list(self.model.parameters()), **options)


# --- what one thread does ---


def in_turn(case):
    one, two = case.loss(1), case.loss(2)
    return [case.gradients(one), case.gradients(two)]


def the_other_way_round(case):
    one, two = case.loss(1), case.loss(2)
    return [case.gradients(two), case.gradients(one)]


def twice(case):
    loss = case.loss(1)
    return [case.gradients(loss, retain_graph=True), case.gradients(loss)]


def twice_with_a_forward_between(case):
    loss = case.loss(1)
    first = case.gradients(loss, retain_graph=True)
    other = case.loss(2)
    return [first, case.gradients(loss), case.gradients(other)]


def dropped(case):
    case.loss(1)
    gc.collect()
    return [case.gradients(case.loss(2))]


def late(case):
    old = case.loss(1)
    new = [case.gradients(case.loss(2))]
    with torch.no_grad():
        out = case.loss(3)
    return [*new, [out], case.gradients(old)]


def summed(case):
    return [case.gradients(case.loss(1) + case.loss(2))]


def accumulated(case):
    losses = [case.loss(number) for number in range(3)]
    for loss in reversed(losses):
        loss.backward()
    found = [p.grad for p in case.model.parameters()]
    case.model.zero_grad()
    return [found]


ALONE = [in_turn, the_other_way_round, twice, twice_with_a_forward_between, dropped, late, summed, accumulated]


# --- what threads do ---


def in_threads(*bodies):
    """Runs each in a thread of its own; what they give, and what they raise."""
    given, raised = [None] * len(bodies), []

    def work(number):
        try:
            with functorch.patch(donated_buffer=False):  # of each thread its own, in some versions
                given[number] = bodies[number]()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(bodies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not raised, raised
    assert not any(thread.is_alive() for thread in threads)
    return given


def trained_by_two(case):
    def body(number):
        return lambda: [case.gradients(case.loss(number)) for _ in range(6)]

    return [gradients for each in in_threads(body(1), body(2)) for gradients in each]


def late_by_two(case):
    """Each goes back when the other has been forward."""
    met = threading.Barrier(2)

    def body(number):
        def go():
            found = []
            for _ in range(2):
                loss = case.loss(number)
                met.wait(60)
                found.append(case.gradients(loss))
                met.wait(60)
            return found

        return go

    return [gradients for each in in_threads(body(1), body(2)) for gradients in each]


def another_threads_backward(case):
    loss = case.loss(1)
    found = in_threads(lambda: case.gradients(loss, retain_graph=True))
    return [*found, case.gradients(case.loss(2)), case.gradients(loss)]


THREADS = [trained_by_two, late_by_two, another_threads_backward]


def same(got, want):
    return len(got) == len(want) and all(
        len(a) == len(b) and all(map(torch.equal, a, b)) for a, b in zip(got, want))


def offloaded(offload, compiled, **options):
    model = make()
    plain = copy.deepcopy(model)
    offload(model, "60%", **options)
    pair = [Case(each, torch.compile(each, fullgraph=True) if compiled else each) for each in (plain, model)]
    for case in pair:
        case.gradients(case.loss(0))
    return pair


def compare(offload, compiled, bodies, **options):
    plain, case = offloaded(offload, compiled, **options)
    manager = ht.manager(case.model)
    for body in bodies:
        want = body(plain)
        for _ in range(2):
            got = body(case)
            assert same(got, want), body.__name__
        manager.settle()
    query = manager.query()
    assert query.aborted_steps == 0 and manager.counters()["strays"] == 0 and query.last_step_h2d_bytes > 0


# --- what comes in the middle ---


def test_a_backward_waits_for_another_threads_forward(offload):
    plain, case = offloaded(offload, False)
    want = [plain.gradients(plain.loss(number)) for number in (1, 2)]
    old = case.loss(1)
    inside, go_on = threading.Event(), threading.Event()

    def pause(module, args, out):
        inside.set()
        assert go_on.wait(60)

    def forward():
        handle = case.model.parts[1].register_forward_hook(pause)
        loss = case.loss(2)
        handle.remove()
        return case.gradients(loss)

    def backward():
        assert inside.wait(60)
        threading.Timer(0.2, go_on.set).start()
        return case.gradients(old)

    assert same(in_threads(backward, forward), want)
    assert ht.manager(case.model).query().aborted_steps == 0


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_backwards_that_raise(offload):
    plain, case = offloaded(offload, False)
    want = plain.gradients(plain.loss(1))

    class Stops(Exception):
        pass

    def stop(*_):
        raise Stops

    for number in range(4):
        loss = case.loss(1)
        handle = case.model.parts[number].register_full_backward_hook(stop)
        with pytest.raises(Stops):
            case.loss(1).backward()
        handle.remove()
        assert same([case.gradients(loss), case.gradients(case.loss(1))], [want, want])
    assert same(in_threads(lambda: case.gradients(case.loss(1))), [want])  # nobody is inside
    assert ht.manager(case.model).counters()["strays"] == 0


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.long)])
def test_optimizers_that_step_within_the_backward(offload, compiled):
    found = []
    for case in offloaded(offload, compiled):
        for parameter in case.model.parameters():
            def step(_, optimizer=torch.optim.SGD([parameter], lr=1e-4)):
                optimizer.step()
                optimizer.zero_grad()

            parameter.register_post_accumulate_grad_hook(step)
        for _ in range(4):
            case.loss(1).backward()
        found.append([[case.loss(1).detach()], list(case.model.parameters())])
    assert same(*found)
    assert ht.manager(case.model).query().aborted_steps == 0


def test_saved_tensors_are_looked_at_outside_of_a_backward(offload):
    plain, case = offloaded(offload, False)
    losses = [each.run(inputs(1)) for each in (plain, case)]
    saved = [out.grad_fn.next_functions[1][0]._saved_mat2 for out in losses]
    assert torch.equal(*saved) and saved[1].data_ptr() != case.model.parts[3].down.weight.data_ptr()
    assert same([case.gradients(losses[1].sum())], [plain.gradients(losses[0].sum())])


# --- all of it ---


@pytest.mark.parametrize("placement", ["arena", "slots"])
def test_eager(offload, placement):
    compare(offload, False, ALONE + THREADS, placement=placement)


def test_compiled(offload):
    with functorch.patch(donated_buffer=False):  # or nobody goes back twice
        compare(offload, True, ALONE + THREADS)
