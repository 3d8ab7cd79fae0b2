// SPDX-License-Identifier: Apache-2.0
// The effects of one graph, as ops submit them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hoist/hoist.hpp"
#include "streams.hpp"
#include "tensors.hpp"

namespace hoist_torch {

class Effects {
 public:
  // What an effect does: gives 0, or 1 with the text of its failure in failure().
  using Function = int (*)();

  Effects(const std::string& device, const std::string& name, Place place)
      : device_(device), streams_(device_.get(), place), sequence_(device_, name) {}

  hoist_effect_t add(const std::string& name, Function function);
  hoist_token_t begin();
  // Without a token it is the one that was given out last: order is by place alone.
  hoist_token_t submit(hoist_effect_t effect, const hoist_token_t* token);
  void end(const hoist_token_t* token);
  void abort();
  [[nodiscard]] hoist_sequence_status_t query() const { return sequence_.query(); }

 private:
  hoist::Device device_;
  Streams streams_;
  hoist::Sequence sequence_;
  hoist_token_t last_ = 0;
};

// By the number that graphs carry.
std::shared_ptr<Effects> find_effects(std::int64_t key);

}  // namespace hoist_torch
