// SPDX-License-Identifier: Apache-2.0
// Steps and units as scopes: leaving one ends it, leaving one by an exception gives the step up.
#pragma once

#include <cstddef>
#include <exception>
#include <iterator>
#include <span>
#include <utility>

#include "hoist/manager.hpp"
#include "hoist/step.h"

namespace hoist {

// A unit's tensors on the device. Elements lie `stride` bytes apart: a newer library's may be longer than ours.
class UnitView {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = hoist_tensor_view_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const hoist_tensor_view_t*;
    using reference = const hoist_tensor_view_t&;

    Iterator() = default;
    Iterator(const std::byte* at, std::size_t stride) : at_(at), stride_(stride) {}
    reference operator*() const { return *reinterpret_cast<pointer>(at_); }
    pointer operator->() const { return reinterpret_cast<pointer>(at_); }
    Iterator& operator++() { return at_ += stride_, *this; }
    Iterator operator++(int) { return std::exchange(*this, Iterator(at_ + stride_, stride_)); }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const std::byte* at_ = nullptr;
    std::size_t stride_ = 0;
  };

  explicit UnitView(const hoist_unit_view_t& view) : view_(view) {}
  [[nodiscard]] std::size_t size() const noexcept { return view_.count; }
  [[nodiscard]] const hoist_tensor_view_t& operator[](std::size_t i) const { return *Iterator(at(i), view_.stride); }
  [[nodiscard]] Iterator begin() const { return {at(0), view_.stride}; }
  [[nodiscard]] Iterator end() const { return {at(view_.count), view_.stride}; }

 private:
  [[nodiscard]] const std::byte* at(std::size_t i) const {
    return reinterpret_cast<const std::byte*>(view_.tensors) + i * view_.stride;
  }
  hoist_unit_view_t view_;
};

// A tensor's bytes as elements; to be touched by host functions only, on devices that are host-addressable.
template <typename T>
std::span<T> elements(const hoist_tensor_view_t& view) {
  return {static_cast<T*>(view.data), static_cast<std::size_t>(view.bytes / sizeof(T))};
}

// Not movable: a scope. Its destructor throws where ending fails, but never while an exception is on its way.
class Unit {
 public:
  Unit(const Manager& manager, hoist_unit_t unit, Stream& stream)
      : manager_(manager.get()), unit_(unit), stream_(stream.get()), view_(begin()) {}
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  // An open unit is ended by the step's abort, which follows an exception.
  ~Unit() noexcept(false) {
    if (open_ && std::uncaught_exceptions() <= exceptions_) end();
  }

  void end() {
    open_ = false;
    check(hoist_unit_end(manager_, unit_, stream_));
  }
  [[nodiscard]] const UnitView& view() const noexcept { return view_; }

 private:
  UnitView begin() {
    hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
    check(hoist_unit_begin(manager_, unit_, stream_, &view));
    return UnitView(view);
  }
  hoist_manager_t* manager_;
  hoist_unit_t unit_;
  hoist_stream_t* stream_;
  UnitView view_;
  bool open_ = true;
  int exceptions_ = std::uncaught_exceptions();
};

// Not movable: a scope. As Unit; while an exception is on its way the step is given up.
class Step {
 public:
  Step(Manager& manager, Stream& stream) : manager_(manager), stream_(stream) {
    check(hoist_step_begin(manager.get(), stream.get()));
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step() noexcept(false) {
    if (!open_) return;
    if (std::uncaught_exceptions() > exceptions_) {
      give_up();
      return;
    }
    try {
      end();
    } catch (...) {
      give_up();
      throw;
    }
  }

  [[nodiscard]] Unit unit(hoist_unit_t unit) { return {manager_, unit, stream_}; }
  [[nodiscard]] Unit unit(hoist_unit_t unit, Stream& stream) { return {manager_, unit, stream}; }
  void end() {
    const hoist_status_t status = hoist_step_end(manager_.get(), stream_.get());
    if (status == HOIST_OK) open_ = false;
    check(status);
  }
  void abort() {
    open_ = false;
    check(hoist_step_abort(manager_.get(), stream_.get()));
  }

 private:
  // The exception on its way says more than this status could.
  void give_up() noexcept { static_cast<void>(hoist_step_abort(manager_.get(), stream_.get()) == HOIST_OK); }

  Manager& manager_;
  Stream& stream_;
  bool open_ = true;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace hoist
