# SPDX-License-Identifier: Apache-2.0
"""hoist moves model weights, states and activations between host and device under one byte budget.

    device = hoist.Device("host:0?mode=threaded")
    manager = hoist.Manager(device, hoist.Budget(device, budget="50%"))
    unit = manager.add_unit("layers.0")
    manager.add_copied(unit, "layers.0.weight", weight)
    manager.commit()
    stream = hoist.Stream(device)
    with manager.step(stream) as step:
        with step.unit(unit) as view:
            stream.submit_host(compute, 100.0, view[0])

Sizes are bytes, times are microseconds. Failures raise hoist.Error, by status. The contracts are those of the C
headers; nothing here adds a default.
"""

from hoist import errors as errors
from hoist._hoist import *  # noqa: F403
from hoist._hoist import version_string as _version_string
from hoist.errors import *  # noqa: F403

__version__ = _version_string()
