// SPDX-License-Identifier: Apache-2.0
// What all owners of a C handle share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "hoist/error.hpp"

namespace hoist::detail {

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const noexcept {
    destroy(handle);
  }
};

// Move-only owner of one handle; a moved-from one holds NULL.
template <typename T, auto destroy>
class Handle {
 public:
  explicit Handle(T* owned) noexcept : handle_(owned) {}
  [[nodiscard]] T* get() const noexcept { return handle_.get(); }
  [[nodiscard]] T* release() noexcept { return handle_.release(); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 protected:
  // Runs a call whose last argument is the handle's place.
  template <typename Create, typename... Arguments>
  static T* make(Create create, Arguments... arguments) {
    T* handle = nullptr;
    check(create(arguments..., &handle));
    return handle;
  }

 private:
  std::unique_ptr<T, Destroy<destroy>> handle_;
};

// Runs a call that fills a buffer: once for the size, once for the text.
template <typename Export>
std::string text_of(Export run) {
  std::size_t bytes = 0;
  check(run(nullptr, &bytes));
  std::string text(bytes, '\0');
  check(run(text.data(), &bytes));
  text.resize(bytes);
  return text;
}

}  // namespace hoist::detail
