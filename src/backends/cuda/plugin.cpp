// SPDX-License-Identifier: Apache-2.0
#include "backends/common/table.hpp"
#include "backends/cuda/cuda_device.hpp"

extern "C" hoist_status_t hoist_cuda_plugin_init(std::uint32_t requested_abi, const hoist_device_services_t* services,
                                                 hoist_device_ops_t* out_ops) {
  return hoist_backend::Table<hoist_backend::cuda::CudaDevice>::init(requested_abi, services, out_ops);
}
