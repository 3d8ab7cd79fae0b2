// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "command.hpp"

namespace tool {
namespace {

template <std::size_t count>
std::string scaled(double value, const std::array<const char*, count>& units) {
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < count) {
    value /= 1000;
    ++unit;
  }
  char text[64];
  const int digits = value < 1000 && value == static_cast<double>(static_cast<std::uint64_t>(value)) ? 0 : 2;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, units[unit]);
  return text;
}

std::string read_standard_input() {
  std::string contents;
  char part[1 << 16];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, stdin)) != 0;) contents.append(part, got);
  if (std::ferror(stdin) != 0) throw BadInput(std::string("cannot read standard input: ") + std::strerror(errno));
  return contents;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  return scaled(static_cast<double>(bytes), std::array{"B", "kB", "MB", "GB", "TB"});
}

std::string time_text(double us) { return scaled(us, std::array{"us", "ms", "s"}); }

std::string count_text(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string one_line(const std::string& text) {
  std::string line = text;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return line;
}

std::string source_text(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string read_file(const std::string& path) {
  if (path == "-") return read_standard_input();
  if (std::filesystem::is_directory(path)) throw BadInput(path + " is a folder; name the file in it");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadInput("cannot open " + path + ": " + std::strerror(errno));
  std::string contents{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw BadInput("cannot read " + path + ": " + std::strerror(errno));
  return contents;
}

void write_file(const std::string& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file) throw BadInput("cannot write " + path + ": " + std::strerror(errno));
}

ProgressBar::ProgressBar(bool quiet) : drawn_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(unsigned done, unsigned of) {
  if (!drawn_) return;
  constexpr unsigned width = 40;
  const unsigned full = of == 0 ? width : width * done / of;
  std::fprintf(stderr, "\r[%s%s] %u of %u steps", std::string(full, '#').c_str(),
               std::string(width - full, '.').c_str(), done, of);
  std::fflush(stderr);
}

}  // namespace tool
