// SPDX-License-Identifier: Apache-2.0
// The module hoist._hoist: Python over the C ABI of libhoist. Nothing here adds a default or a policy.
#include <stdexcept>

#include "common.hpp"

PYBIND11_MODULE(_hoist, module) {
  using namespace hoist_python;
  if (hoist::version_abi() < HOIST_ABI_VERSION) {
    throw py::import_error("libhoist " + std::string(hoist::version_string()) + " serves ABI level " +
                           std::to_string(hoist::version_abi()) + "; this module needs " +
                           std::to_string(HOIST_ABI_VERSION));
  }
  module.doc() = "hoist over its C ABI. Sizes are bytes, times are microseconds; failures raise hoist.Error.";
  bind_errors(module);
  bind_device(module);
  bind_stream(module);
  bind_manager(module);
  bind_step(module);
  bind_dlpack(module);
  bind_timing(module);
  bind_plan(module);
  bind_replay(module);
  bind_checkpoint(module);
  bind_effect(module);
  bind_repr(module);
}
