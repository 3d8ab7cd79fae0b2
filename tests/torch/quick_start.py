# SPDX-License-Identifier: Apache-2.0
"""The first example of doc/torch.md, as it stands there; test_example.py runs it beside a folder with a checkpoint."""
# [quick-start]
import torch
from accelerate import init_empty_weights
from transformers import AutoConfig, AutoModelForCausalLM

import hoist.torch as ht

config = AutoConfig.from_pretrained("checkpoint")
with init_empty_weights(include_buffers=False):            # weights on meta
    model = AutoModelForCausalLM.from_config(config, dtype=config.dtype).eval()
model.tie_weights()
ht.load(model, "checkpoint/model.safetensors")             # mapped, and packed into pinned memory by offload

model = ht.offload(model, budget="60%")                    # bytes, "24GiB", a share, None: as little as hides, a hoist.Budget
manager = ht.manager(model)
ids = torch.arange(8)[None].to(model.device)
with torch.no_grad():
    for _ in range(manager.steps_before_serving):          # shows the order of the units, and measures them
        model(ids)
tokens = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False)

now = manager.query()
print(f"{now.phase.name}: {now.arena_bytes} of {now.tensor_bytes} bytes on the device, {now.last_step_h2d_bytes} moved in a step, "
      f"{now.last_step_us:.0f} us where {now.bound_us:.0f} us are the least")

manager.request_replan()                                   # a plan of the newest times, from the next step on
again = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False)
print(f"replan: {manager.replan_status.state}, the same tokens: {torch.equal(tokens, again)}")

manager.release()                                          # the model is what it was
# [end]
