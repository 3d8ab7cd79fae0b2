// SPDX-License-Identifier: Apache-2.0
// Device memory: sizes, alignment, what is free, and the end of it.
#include <algorithm>
#include <memory>

#include "device_check/check.hpp"

namespace device_check {
namespace {

constexpr std::uint64_t mib = 1 << 20;

struct Info {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

Info info_of(Subject& subject) {
  Info info;
  DC_OK(subject, query_memory, &info.free, &info.total);
  return info;
}

// Others may take and give memory of a real device meanwhile: what holds once in three times holds.
template <typename Look>
void three_times(Look&& look) {
  for (int turn = 1;; ++turn) {
    const std::string words = look();
    if (words.empty()) return;
    if (turn == 3) throw Failure(words);
  }
}

std::uint64_t piece_of(Subject& subject) { return std::min(64 * mib, info_of(subject).total / 8); }

std::string info(Subject& subject) {
  const Info first = info_of(subject);
  require(first.free != 0 && first.free <= first.total,
          std::to_string(first.free) + " of " + std::to_string(first.total) + " bytes are free");
  const std::uint64_t piece = piece_of(subject);
  three_times([&]() -> std::string {
    const Info before = info_of(subject);
    const Memory memory(subject, piece);
    const Info after = info_of(subject);
    if (after.free + piece <= before.free) return "";
    return "memory_create of " + std::to_string(piece) + " bytes took free memory from " + std::to_string(before.free) +
           " to " + std::to_string(after.free);
  });
  return std::to_string(first.free / mib) + " of " + std::to_string(first.total / mib) + " MiB free";
}

std::string given_back(Subject& subject) {
  const std::uint64_t piece = piece_of(subject);
  three_times([&]() -> std::string {
    auto memory = std::make_unique<Memory>(subject, piece);
    const Info before = info_of(subject);
    memory.reset();
    const Info after = info_of(subject);
    if (after.free >= before.free + piece) return "";
    return "memory_destroy of " + std::to_string(piece) + " bytes took free memory from " +
           std::to_string(before.free) + " to " + std::to_string(after.free);
  });
  DC_CALL(subject, memory_destroy, nullptr);
  return "";
}

// Every byte of every block is its own: each block is filled, and then each is looked at from end to end.
std::string sizes(Subject& subject) {
  std::vector<std::uint64_t> wanted = {1, 2, 3, 255, 512, 4095, 4096, 65537, mib + 1, 16 * mib};
  const std::uint64_t large = std::min(48 * mib, info_of(subject).free / 4);
  if (large > 16 * mib) wanted.push_back(large);
  const Memory none(subject, 0);
  Stream stream(subject);
  std::vector<std::unique_ptr<Memory>> blocks;
  std::uint8_t value = 0;
  for (std::uint64_t bytes : wanted) {
    blocks.push_back(std::make_unique<Memory>(subject, bytes));
    require(blocks.back()->at() != nullptr, "memory_create of " + std::to_string(bytes) + " bytes gave NULL");
    stream.fill(blocks.back()->at(), ++value, bytes);
  }
  stream.wait();
  const HostMemory back(subject, wanted.back());
  value = 0;
  for (std::size_t i = 0; i < wanted.size() && subject.moves_bytes(); ++i) {
    stream.copy(HOIST_COPY_D2H, back.at(), blocks[i]->at(), wanted[i]);
    stream.wait();
    ++value;
    const auto wrong = std::find_if(back.at(), back.at(wanted[i]), [&](std::uint8_t byte) { return byte != value; });
    require(wrong == back.at(wanted[i]), "byte " + std::to_string(wrong - back.at()) + " of a block of " +
                                             std::to_string(wanted[i]) + " bytes is another block's, or nobody's");
  }
  return "0 bytes to " + std::to_string(wanted.back() / mib) + " MiB";
}

std::string alignment(Subject& subject) {
  const std::uint64_t alignment = subject.facts().alignment;
  std::vector<std::unique_ptr<Memory>> held;
  for (std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{100}, alignment, alignment + 1, mib + 1}) {
    for (int i = 0; i < 8; ++i) {
      held.push_back(std::make_unique<Memory>(subject, bytes));
      const auto address = reinterpret_cast<std::uintptr_t>(held.back()->at());
      require(address % alignment == 0, "memory_create of " + std::to_string(bytes) + " bytes gave an address of " +
                                            std::to_string(address % alignment) + " mod " + std::to_string(alignment));
    }
  }
  return "to " + std::to_string(alignment) + " bytes";
}

void must_be_refused(Subject& subject, std::uint64_t bytes) {
  void* memory = nullptr;
  const hoist_status_t status = DC_STATUS(subject, memory_create, bytes, &memory);
  if (status == HOIST_OK) DC_CALL(subject, memory_destroy, memory);
  subject.expect(("memory_create of " + std::to_string(bytes) + " bytes").c_str(), status, HOIST_ERROR_OUT_OF_MEMORY);
}

std::string exhaustion(Subject& subject) {
  const Info begin = info_of(subject);
  must_be_refused(subject, begin.total + 1);
  must_be_refused(subject, ~std::uint64_t{0});
  const std::uint64_t chunk = std::max(begin.free / 16, mib);
  std::uint64_t got = 0;
  {
    std::vector<std::unique_ptr<Memory>> held;
    hoist_status_t status = HOIST_OK;
    for (int i = 0; i < 64 && status == HOIST_OK; ++i) {
      void* probe = nullptr;
      status = DC_STATUS(subject, memory_create, chunk, &probe);
      if (status != HOIST_OK) break;
      DC_CALL(subject, memory_destroy, probe);
      held.push_back(std::make_unique<Memory>(subject, chunk));
      got += chunk;
    }
    subject.expect("memory_create beyond what is free", status, HOIST_ERROR_OUT_OF_MEMORY);
  }
  require(got >= begin.free / 2, "only " + std::to_string(got) + " of " + std::to_string(begin.free) +
                                     " free bytes could be had in pieces of " + std::to_string(chunk));
  const Memory afterwards(subject, chunk);  // a refusal leaves the device usable
  return std::to_string(got / mib) + " MiB taken, then refused";
}

}  // namespace

void add_memory_checks(Checks& checks) {
  checks.push_back({"memory.info",
                    "query_memory",
                    "Free and total device memory in bytes, of what memory_create can give.",
                    info,
                    {"identity.query"}});
  checks.push_back({"memory.given_back",
                    "memory_destroy",
                    "Nothing uses it any more; its bytes are free when this returns. NULL is a no-op.",
                    given_back,
                    {"memory.info"}});
  checks.push_back({"memory.sizes",
                    "memory_create",
                    "0 bytes give a pointer, NULL or not, that may only be destroyed.",
                    sizes,
                    {"streams.wait", "copies.every_way", "fills.exact"}});
  checks.push_back(
      {"memory.alignment", "memory_create", "Aligned to the properties' alignment", alignment, {"identity.query"}});
  checks.push_back({"memory.exhaustion",
                    "memory_create",
                    "HOIST_ERROR_OUT_OF_MEMORY when refused.",
                    exhaustion,
                    {"memory.info", "memory.given_back"}});
}

}  // namespace device_check
