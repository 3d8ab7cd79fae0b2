// SPDX-License-Identifier: Apache-2.0
// Gradients on their way to the parameters, whose memory is the host's: by a stream of their own, into pinned memory,
// while the backward goes on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "streams.hpp"

namespace hoist_torch {

class Gradients {
 public:
  explicit Gradients(hoist_device_t* device) : device_(device) {}
  ~Gradients();
  Gradients(const Gradients&) = delete;
  Gradients& operator=(const Gradients&) = delete;

  // A tensor of host memory with the gradient's looks; its bytes are there once wait() has returned.
  Tensor send(const Tensor& gradient, const Streams& streams, hoist_stream_t* compute);
  // How many have been sent; any thread may wait for all up to one of these.
  std::uint64_t sent();
  void wait(std::uint64_t count);

 private:
  struct Sent {
    std::uint64_t number;
    std::uint64_t bytes;
    std::shared_ptr<hoist::Event> arrived;
    std::unique_ptr<Tensor> gradient;  // until what computes later is ordered after the copy
    Tensor host;
  };

  void forget_arrived();
  void make_room(const Streams& streams, hoist_stream_t* compute);

  hoist_device_t* device_;
  std::unique_ptr<hoist::Stream> stream_;  // made with the first gradient
  std::mutex mutex_;
  std::deque<Sent> on_the_way_;
  std::uint64_t sent_ = 0;
  std::uint64_t bytes_ = 0;  // of gradients that are held
};

}  // namespace hoist_torch
