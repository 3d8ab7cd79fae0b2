// SPDX-License-Identifier: Apache-2.0
// Ordered effects: the effects of one graph, as callables that may throw.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "hoist/device.hpp"
#include "hoist/effect.h"

namespace hoist {

class Sequence : public detail::Handle<hoist_sequence_t, hoist_sequence_destroy> {
 public:
  // The stream is the one given to submit; nullptr where none was.
  using Function = std::function<void(hoist_stream_t*)>;

  Sequence(const Device& device, const std::string& name)
      : Handle(make(hoist_sequence_create, device.get(), detail::c_text(name, "name"))) {}

  hoist_effect_t add(const std::string& name, Function function) {
    auto kept = std::make_unique<Kept>(Kept{std::move(function), thrown_.get()});
    hoist_effect_desc_t desc = HOIST_EFFECT_DESC_INIT;
    desc.name = detail::c_text(name, "name");
    desc.function = run;
    desc.user_data = kept.get();
    desc.release = [](void* user_data) { delete static_cast<Kept*>(user_data); };
    hoist_effect_t effect = 0;
    check(hoist_effect_register(get(), &desc, &effect));
    static_cast<void>(kept.release());
    return effect;
  }

  [[nodiscard]] hoist_token_t begin() {
    hoist_token_t token = 0;
    check(hoist_sequence_begin(get(), &token));
    return token;
  }
  // Throws what the effect has thrown, too: the run stays where it is.
  [[nodiscard]] hoist_token_t submit(hoist_effect_t effect, hoist_stream_t* stream, hoist_token_t token) {
    const hoist_status_t status = hoist_effect_submit(get(), effect, stream, token, &token);
    if (*thrown_ != nullptr) std::rethrow_exception(std::exchange(*thrown_, nullptr));
    check(status);
    return token;
  }
  void end(hoist_token_t token) { check(hoist_sequence_end(get(), token)); }
  void abort() { check(hoist_sequence_abort(get())); }
  [[nodiscard]] hoist_sequence_status_t query() const {
    hoist_sequence_status_t status = HOIST_SEQUENCE_STATUS_INIT;
    check(hoist_sequence_query(get(), &status));
    return status;
  }

 private:
  struct Kept {
    Function function;
    std::exception_ptr* thrown;
  };
  static hoist_status_t run(void* user_data, hoist_stream_t* stream) noexcept {
    Kept& kept = *static_cast<Kept*>(user_data);
    try {
      kept.function(stream);
      return HOIST_OK;
    } catch (...) {
      *kept.thrown = std::current_exception();
      return HOIST_ERROR_ABORTED;
    }
  }

  std::unique_ptr<std::exception_ptr> thrown_ = std::make_unique<std::exception_ptr>();
};

}  // namespace hoist
