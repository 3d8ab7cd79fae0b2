// SPDX-License-Identifier: Apache-2.0
// Each operation runs at its submission, on the submitting thread. Guarded mode is this one with closed pages.
#include <chrono>

#include "backends/host/engine.hpp"

namespace hoist_backend::host {
namespace {

class InlineEngine final : public Engine {
 public:
  using Engine::Engine;

  void submit(Stream& stream, Op&& op) override {
    const std::uint64_t sequence = stream.submitted.load(std::memory_order_relaxed) + 1;
    stream.submitted.store(sequence, std::memory_order_relaxed);
    run(stream, sequence, op);
    stream.complete(sequence);
  }

  [[nodiscard]] double now_us() const override {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - opened_).count();
  }

 private:
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<Engine> make_inline_engine(Parts& parts) { return std::make_unique<InlineEngine>(parts); }

}  // namespace hoist_backend::host
