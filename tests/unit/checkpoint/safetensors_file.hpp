// SPDX-License-Identifier: Apache-2.0
// Safetensors files written byte by byte, right and wrong ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

namespace hoist::test {

// A folder of its own that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = std::filesystem::temp_directory_path() / ("hoist-" + std::to_string(std::random_device()()) + "-" +
                                                      std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directory(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }

  [[nodiscard]] std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string length_field(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(length >> (8 * i) & 0xffU));
  return bytes;
}

// Length, JSON, then `data_bytes` bytes that count up.
inline std::string safetensors(std::string_view json, std::uint64_t data_bytes) {
  std::string file = length_field(json.size()) + std::string(json);
  for (std::uint64_t i = 0; i < data_bytes; ++i) file.push_back(static_cast<char>(i * 7 + 1));
  return file;
}

inline std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, std::uint64_t begin,
                         std::uint64_t end) {
  return std::string("\"") + std::string(name) + "\":{\"dtype\":\"" + std::string(dtype) +
         "\",\"shape\":" + std::string(shape) + ",\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(end) + "]}";
}

}  // namespace hoist::test
