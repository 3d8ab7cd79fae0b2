// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace hoist {
namespace {

[[noreturn]] void fail_open(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  fail(missing ? HOIST_ERROR_NOT_FOUND : HOIST_ERROR_IO, text("cannot open ", path, ": ", std::strerror(error)),
       missing ? "check the path; a sharded checkpoint is opened by its .safetensors.index.json" : "");
}

struct Descriptor {
  explicit Descriptor(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number < 0) fail_open(path, errno);
  }
  ~Descriptor() { ::close(number); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

std::uint64_t regular_size(const std::string& path, int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) fail(HOIST_ERROR_IO, text("cannot stat ", path, ": ", std::strerror(errno)));
  if (S_ISDIR(facts.st_mode)) {
    fail(HOIST_ERROR_IO, text(path, " is a folder"), "name the .safetensors or .safetensors.index.json file in it");
  }
  if (!S_ISREG(facts.st_mode)) fail(HOIST_ERROR_IO, text(path, " is not a regular file"), "copy it to a file first");
  return static_cast<std::uint64_t>(facts.st_size);
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const Descriptor descriptor(path_);
  size_ = regular_size(path_, descriptor.number);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
  if (mapped == MAP_FAILED) {
    fail(HOIST_ERROR_IO, text("cannot map ", path_, " (", size_, " bytes): ", std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

}  // namespace hoist
