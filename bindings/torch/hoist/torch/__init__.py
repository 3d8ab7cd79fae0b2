# SPDX-License-Identifier: Apache-2.0
"""hoist.torch streams the weights of torch models.

    import hoist.torch as ht

    model = ht.offload(model, budget="60%")
    for _ in range(ht.manager(model).steps_before_serving): model(x)

Everything stands on the C ABI of libhoist; here is glue alone.
"""

from hoist.torch.effects import Effects as Effects
from hoist.torch.load import load as load
from hoist.torch.manager import manager as manager
from hoist.torch.manual import manual_unit as manual_unit
from hoist.torch.offload import offload as offload
from hoist.torch.plans import save_plan as save_plan
