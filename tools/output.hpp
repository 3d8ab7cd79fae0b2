// SPDX-License-Identifier: Apache-2.0
// Text for people and files for programs.
#pragma once

#include <cstdint>
#include <string>

#include "hoist/hoist.hpp"

namespace tool {

// What hoist refused in a file, and the words that name it.
struct FileError {
  hoist_status_t code;
  std::string words;
};

std::string bytes_text(std::uint64_t bytes);                           // "90.9 MB", powers of ten
std::string time_text(double us);                                      // "12.3 ms"
std::string count_text(std::uint64_t count, const std::string& noun);  // "1 tensor", "2 tensors"

// One line: control characters, which a hostile file may have in its names, become '?'.
std::string one_line(const std::string& text);

// "standard input" for -, else the path.
std::string source_text(const std::string& path);

// Throw BadInput that names the path. - is standard input.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& contents);

// Runs `use`, which reads what is in a file of this path; what hoist says about it then names the file.
template <typename Use>
auto naming(const std::string& path, Use use) {
  try {
    return use();
  } catch (const hoist::Exception& error) {
    throw FileError{error.code(),
                    source_text(path) + ": " + error.message() + (error.hint().empty() ? "" : "; " + error.hint())};
  }
}

// A bar on standard error that is drawn over itself; nothing where that is no terminal or `quiet`.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(unsigned done, unsigned of);

 private:
  bool drawn_;
};

}  // namespace tool
