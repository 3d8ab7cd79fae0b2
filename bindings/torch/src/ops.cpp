// SPDX-License-Identifier: Apache-2.0
// The ops of graphs. Order is data: each takes the token of the one before and what must have been computed, and
// gives what its consumers use. None of them says that it writes to an input.
#include <stdexcept>

#include "failure.hpp"
#include "model.hpp"

namespace hoist_torch {
namespace {

Tensor step_begin(Tensor anchor, std::int64_t model) {
  return noting([&] { return find_model(model)->step_begin(anchor); });
}

// A further step in one graph: after the one before, which nothing else would say.
Tensor step_next(Tensor anchor, Tensor after, std::int64_t model) {
  static_cast<void>(after);
  return noting([&] { return find_model(model)->step_begin(anchor); });
}

std::vector<Tensor> fetch(Tensor anchor, Tensor token, std::int64_t model, std::int64_t unit) {
  static_cast<void>(anchor), static_cast<void>(token);
  return noting([&] { return find_model(model)->fetch(static_cast<hoist_unit_t>(unit)); });
}

Tensor unit_end(Tensor first, std::vector<Tensor> leaving, std::int64_t model, std::int64_t unit) {
  static_cast<void>(first), static_cast<void>(leaving);
  return noting([&] { return find_model(model)->unit_end(static_cast<hoist_unit_t>(unit)); });
}

Tensor step_end(std::vector<Tensor> leaving, Tensor token, std::int64_t model) {
  static_cast<void>(leaving), static_cast<void>(token);
  return noting([&] { return find_model(model)->step_end(); });
}

// Is in graphs only until they are split in two: its parameters lead gradients there.
std::vector<Tensor> fetch_trained(Tensor anchor, Tensor token, std::vector<Tensor> parameters, std::int64_t model,
                                  std::int64_t unit) {
  static_cast<void>(anchor), static_cast<void>(token), static_cast<void>(parameters), static_cast<void>(model);
  throw std::runtime_error("hoist.torch: unit " + std::to_string(unit) +
                           " is trained in a graph whose backward would read it too late (compile with inductor, the "
                           "default backend of torch.compile, or train in eager)");
}

Tensor forward_end(std::vector<Tensor> leaving, Tensor token, std::int64_t model) {
  static_cast<void>(leaving), static_cast<void>(token);
  return noting([&] { return find_model(model)->forward_end(); });
}

Tensor step_mark(Tensor token, std::int64_t model) {
  static_cast<void>(token);
  return noting([&] { return find_model(model)->mark(); });
}

Tensor send_gradient(Tensor gradient, std::int64_t model) {
  return noting([&] { return find_model(model)->send_gradient(gradient); });
}

std::vector<Tensor> receive_gradients(std::vector<Tensor> sent, Tensor after, std::int64_t model) {
  static_cast<void>(after);
  return noting([&] { return find_model(model)->receive_gradients(sent); });
}

void add_all(torch::stable::detail::StableLibrary& library) {
  library.impl("step_begin", TORCH_BOX(&step_begin));
  library.impl("fetch", TORCH_BOX(&fetch));
  library.impl("unit_end", TORCH_BOX(&unit_end));
  library.impl("step_end", TORCH_BOX(&step_end));
  library.impl("step_next", TORCH_BOX(&step_next));
  library.impl("fetch_trained", TORCH_BOX(&fetch_trained));
  library.impl("forward_end", TORCH_BOX(&forward_end));
  library.impl("step_mark", TORCH_BOX(&step_mark));
  library.impl("send_gradient", TORCH_BOX(&send_gradient));
  library.impl("receive_gradients", TORCH_BOX(&receive_gradients));
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(hoist, library) {
  library.def("step_begin(Tensor anchor, int model) -> Tensor");
  library.def("fetch(Tensor anchor, Tensor token, int model, int unit) -> Tensor[]");
  library.def("unit_end(Tensor first, Tensor[] leaving, int model, int unit) -> Tensor");
  library.def("step_end(Tensor[] leaving, Tensor token, int model) -> Tensor");
  library.def("step_next(Tensor anchor, Tensor after, int model) -> Tensor");
  library.def("fetch_trained(Tensor anchor, Tensor token, Tensor[] parameters, int model, int unit) -> Tensor[]");
  library.def("forward_end(Tensor[] leaving, Tensor token, int model) -> Tensor");
  library.def("step_mark(Tensor token, int model) -> Tensor");
  library.def("send_gradient(Tensor gradient, int model) -> Tensor");
  library.def("receive_gradients(Tensor[] sent, Tensor after, int model) -> Tensor[]");
  library.def("backward_begin(Tensor anchor, Tensor mark, int model) -> Tensor");  // in Python: see native.py
}

STABLE_TORCH_LIBRARY_IMPL(hoist, CPU, library) { add_all(library); }
STABLE_TORCH_LIBRARY_IMPL(hoist, CUDA, library) { add_all(library); }

}  // namespace hoist_torch
