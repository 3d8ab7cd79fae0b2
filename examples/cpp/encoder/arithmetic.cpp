// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.hpp"

#include <utility>

namespace encoder {
namespace {

class OnHost final : public Arithmetic {
 public:
  OnHost(const hoist::Device& device, const Model& model, const std::vector<Sentence>& sentences)
      : device_(device), forward_(model, sentences) {}

  hoist::Stream make_stream() override { return hoist::Stream(device_); }
  void submit(const Unit& unit, std::vector<const float*> weights, hoist::Stream& stream) override {
    stream.submit_host([this, &unit, weights = std::move(weights)] { forward_.run(unit, weights); }, 0.0);
  }
  // In stream order too: the next step must not overwrite the embeddings before they are copied out.
  void submit_embeddings(Matrix& out, hoist::Stream& stream) override {
    stream.submit_host([this, &out] { out = forward_.embeddings(); }, 0.0);
  }

 private:
  const hoist::Device& device_;
  Forward forward_;
};

}  // namespace

MakeArithmetic on_host(const hoist::Device& device, const Model& model, const std::vector<Sentence>& sentences) {
  return [&] { return std::make_unique<OnHost>(device, model, sentences); };
}

}  // namespace encoder
