// SPDX-License-Identifier: Apache-2.0
// The effects of one graph, run in the order in which they were registered, or refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace hoist {

class Sequence {
 public:
  // What an effect does comes with the call, so that this room knows no handles.
  struct Counters {
    std::uint64_t runs = 0;
    std::uint64_t aborted_runs = 0;
    std::uint64_t submitted = 0;
    std::uint64_t refused = 0;
    std::uint64_t stream_changes = 0;
  };

  Sequence(std::shared_ptr<Device> device, std::string name);
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return device_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(names_.size()); }
  [[nodiscard]] const std::string& name(std::uint32_t effect) const { return names_[effect]; }
  [[nodiscard]] bool open() const noexcept { return open_; }
  [[nodiscard]] std::uint32_t due() const noexcept { return open_ ? due_ : 0; }

  std::uint32_t add(const std::string& name);
  std::uint64_t begin();
  // Throws before anything has run: Error(ORDER), Error(NOT_FOUND), Error(INVALID_STATE).
  void require_due(std::uint32_t effect, std::uint64_t token);
  // What is submitted to the stream from here on comes after the effects before. Null: nothing will be.
  void order_on(const std::shared_ptr<void>& stream);
  // The effect that is due has run; the token for the next one.
  std::uint64_t done();
  void end(std::uint64_t token);
  void abort();

 private:
  [[nodiscard]] std::uint64_t token() const noexcept;
  [[nodiscard]] std::string place(std::uint32_t effect) const;
  [[noreturn]] void refuse_token(std::uint64_t token);
  void require_open() const;

  std::shared_ptr<Device> device_;
  std::string name_;
  std::vector<std::string> names_;
  std::uint64_t mark_;  // of this sequence, in its tokens
  std::uint64_t run_ = 0;
  std::uint32_t due_ = 0;
  bool open_ = false;
  Counters counters_;
  void* event_ = nullptr;
  std::shared_ptr<void> stream_;  // of the last effect that had one
};

}  // namespace hoist
