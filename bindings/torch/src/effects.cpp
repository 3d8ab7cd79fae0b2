// SPDX-License-Identifier: Apache-2.0
// Ordered effects as ops. Each takes the token of the one before, and what must have been computed, and gives its own:
// a number in host memory, that is checked. effect_here gives nothing: it is kept, and ordered among its likes, by
// being registered as an effect, and checked by its place alone.
#include "effects.hpp"

#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "control.hpp"

namespace hoist_torch {

hoist_effect_t Effects::add(const std::string& name, Function function) {
  return sequence_.add(name, [name, function](hoist_stream_t*) {
    if (function() != 0) throw std::runtime_error("hoist.torch: effect \"" + name + "\" failed: " + failure());
  });
}

hoist_token_t Effects::begin() { return last_ = sequence_.begin(); }

hoist_token_t Effects::submit(hoist_effect_t effect, const hoist_token_t* token) {
  hoist_stream_t* const stream = streams_.current();
  last_ = sequence_.submit(effect, stream, token != nullptr ? *token : last_);
  streams_.before_compute(stream);
  return last_;
}

void Effects::end(const hoist_token_t* token) { sequence_.end(token != nullptr ? *token : last_); }

void Effects::abort() { sequence_.abort(); }

namespace {

std::shared_mutex all_mutex;
std::unordered_map<std::int64_t, std::shared_ptr<Effects>>& all() {
  static auto* const effects = new std::unordered_map<std::int64_t, std::shared_ptr<Effects>>;  // outlives every static
  return *effects;
}

Tensor tensor_of(hoist_token_t token) {
  const Place host{aoti_torch_device_type_cpu(), -1};
  Tensor made = empty({}, aoti_torch_dtype_int64(), host);
  *static_cast<std::int64_t*>(made.mutable_data_ptr()) = static_cast<std::int64_t>(token);
  return made;
}

hoist_token_t token_of(const Tensor& tensor) {
  return static_cast<hoist_token_t>(*static_cast<const std::int64_t*>(tensor.const_data_ptr()));
}

Tensor effects_begin(std::vector<Tensor> after, std::int64_t effects) {
  static_cast<void>(after);
  return noting([&] { return tensor_of(find_effects(effects)->begin()); });
}

Tensor effect(Tensor token, std::vector<Tensor> after, std::int64_t effects, std::int64_t effect) {
  static_cast<void>(after);
  const hoist_token_t given = token_of(token);
  return noting([&] { return tensor_of(find_effects(effects)->submit(static_cast<hoist_effect_t>(effect), &given)); });
}

void effect_here(std::vector<Tensor> after, std::int64_t effects, std::int64_t effect) {
  static_cast<void>(after);
  noting([&] { return find_effects(effects)->submit(static_cast<hoist_effect_t>(effect), nullptr); });
}

void effects_end(Tensor token, std::vector<Tensor> after, std::int64_t effects) {
  static_cast<void>(after);
  const hoist_token_t given = token_of(token);
  noting([&] { find_effects(effects)->end(&given); });
}

}  // namespace

std::shared_ptr<Effects> find_effects(std::int64_t key) {
  const std::shared_lock lock(all_mutex);
  const auto found = all().find(key);
  if (found != all().end()) return found->second;
  throw std::runtime_error("hoist.torch: no effects with key " + std::to_string(key) +
                           " (they are gone, or the graph was compiled for others: compile again)");
}

STABLE_TORCH_LIBRARY_FRAGMENT(hoist, library) {
  library.def("effects_begin(Tensor[] after, int effects) -> Tensor");
  library.def("effect(Tensor token, Tensor[] after, int effects, int effect) -> Tensor");
  library.def("effect_here(Tensor[] after, int effects, int effect) -> ()");
  library.def("effects_end(Tensor token, Tensor[] after, int effects) -> ()");
}

// On whichever device: without a tensor among its inputs an op has none.
STABLE_TORCH_LIBRARY_IMPL(hoist, CompositeExplicitAutograd, library) {
  library.impl("effects_begin", TORCH_BOX(&effects_begin));
  library.impl("effect", TORCH_BOX(&effect));
  library.impl("effect_here", TORCH_BOX(&effect_here));
  library.impl("effects_end", TORCH_BOX(&effects_end));
}

}  // namespace hoist_torch

using hoist_torch::Effects;
using hoist_torch::find_effects;
using hoist_torch::guarded;

HOIST_TORCH_API int hoist_torch_effects_open(std::int64_t key, const char* device, const char* name,
                                             std::int32_t device_type, std::int32_t device_index) {
  return guarded([&] {
    auto made = std::make_shared<Effects>(device, name, hoist_torch::Place{device_type, device_index});
    const std::unique_lock lock(hoist_torch::all_mutex);
    hoist_torch::all()[key] = std::move(made);
  });
}

HOIST_TORCH_API void hoist_torch_effects_close(std::int64_t key) {
  const std::unique_lock lock(hoist_torch::all_mutex);
  hoist_torch::all().erase(key);
}

HOIST_TORCH_API int hoist_torch_effects_add(std::int64_t key, const char* name, Effects::Function function,
                                            std::uint32_t* out_effect) {
  return guarded([&] { *out_effect = find_effects(key)->add(name, function); });
}

HOIST_TORCH_API void hoist_torch_effects_fail(const char* text) { hoist_torch::failure() = text; }

HOIST_TORCH_API int hoist_torch_effects_begin(std::int64_t key) {
  return guarded([&] { static_cast<void>(find_effects(key)->begin()); });
}

HOIST_TORCH_API int hoist_torch_effects_end(std::int64_t key) {
  return guarded([&] { find_effects(key)->end(nullptr); });
}

HOIST_TORCH_API int hoist_torch_effects_abort(std::int64_t key) {
  return guarded([&] { find_effects(key)->abort(); });
}

HOIST_TORCH_API int hoist_torch_effects_query(std::int64_t key, std::uint64_t* out_counts) {
  return guarded([&] {
    const hoist_sequence_status_t status = find_effects(key)->query();
    out_counts[0] = status.is_open;
    out_counts[1] = status.runs;
    out_counts[2] = status.aborted_runs;
    out_counts[3] = status.submitted;
    out_counts[4] = status.refused;
  });
}
