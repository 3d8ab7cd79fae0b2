# SPDX-License-Identifier: Apache-2.0
"""Problems to plan: the families that people have, and random small ones."""

import random

LINKS = {
    "h2d": {"latency_us": 5.0, "bytes_per_us": 55400.0},
    "d2h": {"latency_us": 5.0, "bytes_per_us": 55300.0},
    "peer": {"latency_us": 8.0, "bytes_per_us": 390000.0},
}
MIB = 1 << 20


def up(size, alignment):
    return -(-size // alignment) * alignment


def problem(units, items, budget, cyclic=True, links=None, duplex=0.87, alignment=512):
    return {
        "version": 1,
        "device": {"budget_bytes": int(budget), "alignment": alignment},
        "links": links or LINKS,
        "duplex_factor": duplex,
        "cyclic": cyclic,
        "units": units,
        "items": items,
    }


def unit(name, compute_us, workspace=0):
    return {"name": name, "compute_us": compute_us, "workspace_bytes": workspace}


def item(name, size, uses, kind="weight", transient=False, link="h2d"):
    listed = [{"unit": u, "mode": m} for u, m in uses]
    return {"name": name, "bytes": int(size), "class": kind, "link": link, "transient": transient, "uses": listed}


def smallest(p):
    """The smallest budget by bytes."""
    alignment = p["device"]["alignment"]
    used = [0] * len(p["units"])
    for it in p["items"]:
        for use in it["uses"]:
            used[use["unit"]] += up(it["bytes"], alignment)
    return max(used) + max(up(u.get("workspace_bytes", 0), alignment) for u in p["units"])


def total(p):
    return sum(up(it["bytes"], p["device"]["alignment"]) for it in p["items"])


def tensors(width):
    """The nine tensors of a decoder layer, in bytes of two a parameter."""
    square = 2 * width * width
    return {"norm1": 2 * width, "q": square, "k": square // 4, "v": square // 4, "o": square, "norm2": 2 * width,
            "gate": int(square * 3.5), "up": int(square * 3.5), "down": int(square * 3.5)}


def with_budget(p, share):
    """The budget as a share of all bytes, never below the smallest."""
    p["device"]["budget_bytes"] = max(smallest(p), int(total(p) * share))
    return p


def set_compute(p, ratio, crossing):
    """Compute times so that they are `ratio` of the time that `crossing` bytes take on h2d, in the given proportions."""
    have = sum(u["compute_us"] for u in p["units"])
    want = ratio * crossing / p["links"]["h2d"]["bytes_per_us"]
    for u in p["units"]:
        u["compute_us"] *= want / have
    return p


def stack(layers, share, ratio, width=4096, mixed=False, cyclic=True, seed=0, workspace=0):
    """A decoder stack; ratio is compute over the transfer of what the budget leaves out."""
    rng = random.Random(seed)
    units, items = [], []
    for layer in range(layers):
        w = width * rng.choice([1, 1, 1.5, 2]) if mixed else width
        sizes = tensors(int(w))
        weight = sum(sizes.values())
        jitter = rng.uniform(0.6, 1.6) if mixed else 1.0
        units.append(unit(f"layers.{layer}", weight * jitter, workspace))
        items += [item(f"layers.{layer}.{n}", s, [(layer, "r")]) for n, s in sizes.items()]
    p = with_budget(problem(units, items, 0, cyclic), share)
    return set_compute(p, ratio, max(total(p) * (1 - share) if cyclic else total(p), MIB))


def experts(layers, share, ratio, count=8, width=2048, seed=0):
    """A mixture of experts: many equal tensors a unit."""
    units, items = [], []
    for layer in range(layers):
        units.append(unit(f"layers.{layer}", 1.0))
        for n in ("q", "o"):
            items.append(item(f"layers.{layer}.{n}", 2 * width * width, [(layer, "r")]))
        for e in range(count):
            items.append(item(f"layers.{layer}.experts.{e}.up", 4 * width * width, [(layer, "r")]))
            items.append(item(f"layers.{layer}.experts.{e}.down", 4 * width * width, [(layer, "r")]))
    p = with_budget(problem(units, items, 0), share)
    return set_compute(p, ratio, total(p) * (1 - share))


def gathers(layers, share, ratio, width=4096, ranks=8):
    """Weights of which each rank holds a part: the rest is gathered over the peer link."""
    units, items = [], []
    for layer in range(layers):
        units.append(unit(f"layers.{layer}", 1.0))
        for n, s in tensors(width).items():
            own = up(s // ranks, 512)
            items.append(item(f"layers.{layer}.{n}.own", own, [(layer, "r")]))
            items.append(item(f"layers.{layer}.{n}.rest", s - own if s > own else 0, [(layer, "r")], "shard", link="peer"))
    p = with_budget(problem(units, items, 0), share)
    peer = sum(i["bytes"] for i in items if i["link"] == "peer")
    out = (1 - share) * peer / p["links"]["peer"]["bytes_per_us"] * p["links"]["h2d"]["bytes_per_us"]
    return set_compute(p, ratio, out)


def training(layers, share, ratio, width=2048, optimizer=True, activation=1.0):
    """Forward, backward, optimizer: weights, activations, gradients, two states of four bytes a parameter."""
    units, items = [], []
    for layer in range(layers):
        units.append(unit(f"forward.{layer}", 1.0))
    for layer in reversed(range(layers)):
        units.append(unit(f"backward.{layer}", 2.0))
    if optimizer:
        units += [unit(f"optimizer.{layer}", 0.3) for layer in range(layers)]
    for layer in range(layers):
        back, step = 2 * layers - 1 - layer, 2 * layers + layer
        sizes = tensors(width)
        for n, s in sizes.items():
            uses = [(layer, "r"), (back, "r")] + ([(step, "rw")] if optimizer else [])
            items.append(item(f"layers.{layer}.{n}", s, uses))
            if not optimizer:
                continue
            items.append(item(f"layers.{layer}.{n}.grad", s, [(back, "w"), (step, "r")], "activation", True))
            items.append(item(f"adam.{layer}.{n}.m", 2 * s, [(step, "rw")], "state"))
            items.append(item(f"adam.{layer}.{n}.v", 2 * s, [(step, "rw")], "state"))
        size = int(activation * sum(sizes.values()) / 2)
        items.append(item(f"act.{layer}", size, [(layer, "w"), (back, "r")], "activation", True))
    p = with_budget(problem(units, items, 0), share)
    return set_compute(p, ratio, total(p) * (1 - share))


def adapters(layers, share, ratio, width=1024, rank=16):
    """Forward and backward of frozen layers, then one unit that updates a little of each: low-rank adapters."""
    p = training(layers, 1.0, ratio, width, optimizer=False)
    last = len(p["units"])
    p["units"].append(unit("optimizer", 1.0))
    for layer in range(layers):
        for n in ("a", "b"):
            uses = [(layer, "r"), (last - 1 - layer, "r"), (last, "rw")]
            p["items"].append(item(f"adapters.{layer}.{n}", 2 * width * rank, uses))
            p["items"].append(item(f"adam.{layer}.{n}.m", 4 * width * rank, [(last, "rw")], "state"))
    with_budget(p, share)
    return set_compute(p, ratio, total(p) * (1 - share))


def states(layers, share, ratio, width=2048):
    """An optimizer alone: states read and written by one unit each."""
    units, items = [], []
    for layer in range(layers):
        units.append(unit(f"optimizer.{layer}", 1.0))
        for n, s in tensors(width).items():
            items.append(item(f"adam.{layer}.{n}.m", 2 * s, [(layer, "rw")], "state"))
            items.append(item(f"adam.{layer}.{n}.v", 2 * s, [(layer, "rw")], "state"))
            items.append(item(f"layers.{layer}.{n}", s, [(layer, "rw")]))
    p = with_budget(problem(units, items, 0), share)
    return set_compute(p, ratio, total(p) * (1 - share))


def table(rows, layers, share, ratio, width=384):
    """A word table in parts, each used by a unit that computes next to nothing, then layers that compute."""
    units = [unit(f"words.{n}", 0.0) for n in range(rows)]
    items = [item(f"words.{n}", 2048 * 4 * width, [(n, "r")]) for n in range(rows)]
    for layer in range(layers):
        for part, tensors_of_part in (("attention", 4 * [4 * width * width]), ("feed_forward", 2 * [16 * width * width])):
            units.append(unit(f"layers.{layer}.{part}", 1.0 if part == "attention" else 2.5))
            items += [item(f"layers.{layer}.{part}.{n}", size, [(len(units) - 1, "r")])
                      for n, size in enumerate(tensors_of_part)]
    p = with_budget(problem(units, items, 0), share)
    return set_compute(p, ratio, total(p) * (1 - share))


def tied(layers, share, ratio, width=2048):
    """A stack with an embedding that its first and its last unit use."""
    p = stack(layers, 1.0, 1.0, width)
    p["items"].append(item("embedding", 2 * width * 32000, [(0, "r"), (layers - 1, "r")]))
    with_budget(p, share)
    return set_compute(p, ratio, total(p) * (1 - share))


def link_us(problem, plan):
    """The longest that a link is busy in a step."""
    items = {item["name"]: item for item in problem["items"]}
    busy = dict.fromkeys(problem["links"], 0.0)
    for op in plan["ops"]:
        if op["op"] == "drop":
            continue
        link = "d2h" if op["op"] == "store" else items[op["item"]]["link"]
        rate = problem["links"][link]
        busy[link] += rate["latency_us"] + items[op["item"]]["bytes"] / rate["bytes_per_us"]
    return max(busy.values())


def fuzzed(seed, most_units=6, most_items=8):
    """A small random problem: every mode, class, link and oddity."""
    rng = random.Random(seed)
    count = rng.randint(1, most_units)
    alignment = rng.choice([1, 1, 16, 512])
    units = [unit(f"u{n}", rng.choice([0.0, 10.0, 100.0, rng.uniform(0, 300)]), rng.choice([0, 0, 0, rng.randint(0, 300)]))
             for n in range(count)]
    items = []
    for n in range(rng.randint(0, most_items)):
        transient = rng.random() < 0.25
        at = sorted(rng.sample(range(count), rng.randint(0 if rng.random() < 0.1 else 1, min(count, rng.choice([1, 2, 3, 6])))))
        modes = [rng.choice(["r", "r", "r", "rw", "w"]) for _ in at]
        if transient and modes:
            modes[0] = "w"
        size = rng.choice([0, 1, 100, 1000, 1000, rng.randint(1, 3000)])
        link = "peer" if rng.random() < 0.2 else "h2d"
        items.append(item(f"i{n}", size, list(zip(at, modes)), rng.choice(["weight", "state", "shard"]), transient, link))
    links = {"h2d": {"latency_us": rng.choice([0.0, 5.0]), "bytes_per_us": rng.choice([5.0, 10.0, 50.0])},
             "d2h": {"latency_us": rng.choice([0.0, 5.0]), "bytes_per_us": rng.choice([5.0, 10.0, 50.0])},
             "peer": {"latency_us": 8.0, "bytes_per_us": rng.choice([10.0, 100.0])}}
    p = problem(units, items, 0, rng.random() < 0.75, links, rng.choice([1.0, 0.87, 0.5]), alignment)
    low, high = smallest(p), total(p) + smallest(p)
    p["device"]["budget_bytes"] = rng.choice([low, low, int(low * rng.uniform(1, 1.5)), rng.randint(low, max(low, high))])
    return p
