// SPDX-License-Identifier: Apache-2.0
#include "hoist/effect.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device_handle.hpp"
#include "effect/sequence.hpp"
#include "guard.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

// A sequence of the core and, by effect, what the caller gave.
struct OpenSequence {
  std::unique_ptr<Sequence> sequence;
  std::vector<hoist_effect_desc_t> effects;

  Sequence* operator->() const { return sequence.get(); }
};

}  // namespace

struct hoist_sequence_t : Handle<OpenSequence> {
  static constexpr const char* type = "hoist_sequence_t";
};

namespace {

std::shared_ptr<void> place_of(const Sequence& sequence, hoist_stream_t* stream) {
  if (stream == nullptr) return nullptr;
  const Stream& target = value_of(stream, "stream");
  if (target.device == sequence.device()) return target.handle;
  fail(HOIST_ERROR_INVALID_ARGUMENT,
       text("stream is of ", target.device->name(), ", the sequence of ", sequence.device()->name()),
       "give a stream of the sequence's device");
}

// The callback may have recorded what went wrong in a call of its own: that says more than its status.
void run(const hoist_effect_desc_t& effect, const std::string& name, hoist_stream_t* stream) {
  if (effect.function == nullptr) return;
  const std::uint64_t before = error_record().number;
  const hoist_status_t status = effect.function(effect.user_data, stream);
  if (status == HOIST_OK) return;
  const ErrorRecord& cause = error_record();
  const bool told = cause.code == status && cause.number != before;
  fail(status, text("effect \"", name, "\" failed: ", told ? cause.message : hoist_status_string(status)),
       told ? cause.hint : "the effect's own function returned that; submit it again, or abort the run");
}

std::string name_of(const char* name) {
  std::string given = &required(name, "name");
  if (given.empty()) fail(HOIST_ERROR_INVALID_ARGUMENT, "name is empty", "give a name, which errors will tell");
  return given;
}

}  // namespace

hoist_status_t hoist_sequence_create(hoist_device_t* device, const char* name,
                                     hoist_sequence_t** out_sequence) noexcept {
  return guarded("hoist_sequence_create", [&] {
    const auto& target = device_of(device);
    required(out_sequence, "out_sequence");
    auto sequence = std::make_unique<Sequence>(target, name_of(name));
    *out_sequence = create_handle<hoist_sequence_t>(OpenSequence{std::move(sequence), {}});
  });
}

void hoist_sequence_destroy(hoist_sequence_t* sequence) noexcept {
  destroy_handle(sequence, "hoist_sequence_destroy", [](OpenSequence& value) {
    for (const hoist_effect_desc_t& effect : value.effects) {
      if (effect.release != nullptr) effect.release(effect.user_data);
    }
  });
}

hoist_status_t hoist_effect_register(hoist_sequence_t* sequence, const hoist_effect_desc_t* desc,
                                     hoist_effect_t* out_effect) noexcept {
  return guarded("hoist_effect_register", [&] {
    const Held held(sequence, "sequence");
    hoist_effect_desc_t known = read_struct(desc, "desc");
    required(out_effect, "out_effect");
    const std::string name = name_of(known.name);
    known.name = nullptr;  // the core has it
    held->effects.reserve(held->effects.size() + 1);
    *out_effect = held->sequence->add(name);
    held->effects.push_back(known);
  });
}

hoist_status_t hoist_sequence_begin(hoist_sequence_t* sequence, hoist_token_t* out_token) noexcept {
  return guarded("hoist_sequence_begin", [&] {
    const Held held(sequence, "sequence");
    required(out_token, "out_token");
    *out_token = held->sequence->begin();
  });
}

hoist_status_t hoist_effect_submit(hoist_sequence_t* sequence, hoist_effect_t effect, hoist_stream_t* stream,
                                   hoist_token_t token, hoist_token_t* out_token) noexcept {
  return guarded("hoist_effect_submit", [&] {
    const Held held(sequence, "sequence");
    required(out_token, "out_token");
    Sequence& target = *held->sequence;
    const auto place = place_of(target, stream);
    target.require_due(effect, token);
    target.order_on(place);
    run(held->effects[effect], target.name(effect), stream);
    *out_token = target.done();
  });
}

hoist_status_t hoist_sequence_end(hoist_sequence_t* sequence, hoist_token_t token) noexcept {
  return guarded("hoist_sequence_end", [&] { Held(sequence, "sequence")->sequence->end(token); });
}

hoist_status_t hoist_sequence_abort(hoist_sequence_t* sequence) noexcept {
  return guarded("hoist_sequence_abort", [&] { Held(sequence, "sequence")->sequence->abort(); });
}

hoist_status_t hoist_sequence_query(const hoist_sequence_t* sequence, hoist_sequence_status_t* out_status) noexcept {
  return guarded("hoist_sequence_query", [&] {
    const Held held(sequence, "sequence");
    check_out(out_status, "out_status");
    const Sequence& target = *held->sequence;
    const Sequence::Counters& counters = target.counters();
    write_struct(*out_status,
                 {sizeof(hoist_sequence_status_t), target.count(), target.open() ? 1U : 0U, target.due(), 0,
                  counters.runs, counters.aborted_runs, counters.submitted, counters.refused, counters.stream_changes});
  });
}
