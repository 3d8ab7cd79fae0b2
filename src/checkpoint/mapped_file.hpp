// SPDX-License-Identifier: Apache-2.0
// A regular file mapped read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hoist {

class MappedFile {
 public:
  // Throws Error: NOT_FOUND where there is no such file, IO where it is not a regular file or cannot be mapped.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::string_view contents() const noexcept {
    return {reinterpret_cast<const char*>(data_), static_cast<std::size_t>(size_)};
  }

 private:
  std::string path_;
  std::byte* data_ = nullptr;  // NULL for an empty file: there is nothing to map
  std::uint64_t size_ = 0;
};

}  // namespace hoist
