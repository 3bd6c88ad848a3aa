// Whatever a replay file or a check is, a reducer reads it or refuses it.
#include "features/reduce/check.h"
#include "features/reduce/replay.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/result.h"

namespace {

void read_replay(std::string_view text) {
  const assay::FuzzedFile file(text);
  if (const auto replay = assay::ReduceReplay::open(file.path(), "subject")) {
    const auto again = assay::ReduceReplay::open(file.path(), "subject");
    ASSAY_CHECK(again && again->size() == replay->size());
  }
}

void read_check(std::string_view text) {
  if (const auto check = assay::check_from_text(text)) {
    ASSAY_CHECK(check->kind != assay::ReduceKind::kSlower || check->ratio > 1);
  }
  static_cast<void>(assay::core_of_text(text));
}

constexpr assay::FuzzedParser kParsers[] = {{'r', read_replay}, {'k', read_check}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
