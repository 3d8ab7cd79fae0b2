// SPDX-License-Identifier: Apache-2.0
#include "device/services.hpp"

#include <utility>

#include "base/error_record.hpp"
#include "base/log.hpp"
#include "base/of_thread.hpp"

namespace hoist {
namespace {

struct Pending {
  hoist_status_t code = HOIST_OK;
  SlotError error;
};

void error_set(hoist_status_t code, const char* message, const char* hint) {
  Pending& target = of_thread<Pending>();
  target.code = code;
  try {
    target.error.message = message == nullptr ? "" : message;
    target.error.hint = hint == nullptr ? "" : hint;
  } catch (...) {
    target.code = HOIST_OK;  // the status alone is passed on
  }
}

void log_from_device(hoist_log_level_t level, const char* message) {
  if (message != nullptr) log_message(level, message);
}

}  // namespace

const hoist_device_services_t& device_services() noexcept {
  static constexpr hoist_device_services_t services = {sizeof(hoist_device_services_t), HOIST_DEVICE_ABI_VERSION, 0,
                                                       error_set, log_from_device};
  return services;
}

SlotError take_slot_error(hoist_status_t status) {
  Pending& source = of_thread<Pending>();
  const bool fits = source.code == status && !source.error.message.empty();
  source.code = HOIST_OK;
  SlotError error = std::exchange(source.error, SlotError{});
  return fits ? error : SlotError{std::string("the device gave no reason with ") + status_name(status), ""};
}

}  // namespace hoist
