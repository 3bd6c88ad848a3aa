// Whatever a list of known gaps, a listing of cases or a pattern is, it is read or refused; lists
// that were read can be written and read again, and patterns match what their definition says.
#include "features/conform/conform_case.h"
#include "features/conform/glob.h"
#include "features/conform/known_gaps_file.h"
#include "features/conform/operator_names.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/base/fuzz_input.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace {

void read_known_gaps(std::string_view text) {
  const auto document = assay::parse_json(text, "fuzz");
  if (!document) {
    return;
  }
  if (const auto gaps = assay::known_gaps_from_json(*document, "fuzz")) {
    const auto written = assay::document_from_known_gaps(*gaps);
    const auto again = assay::known_gaps_from_json(written, "again");
    ASSAY_CHECK(again && assay::document_from_known_gaps(*again) == written);
  }
}

void read_listing(std::string_view text) {
  const auto document = assay::parse_json(text, "fuzz");
  if (!document) {
    return;
  }
  if (const auto listing = assay::listing_from_json(*document)) {
    const auto first = assay::shard_of(listing->cases, 0, 2);
    const auto second = assay::shard_of(listing->cases, 1, 2);
    ASSAY_CHECK(first.size() + second.size() == listing->cases.size());
  }
}

/// The definition, without the search for speed: row by row, which beginnings of the text match.
bool is_match_by_definition(std::string_view pattern, std::string_view text) {
  std::vector<bool> matches(text.size() + 1, false);
  matches[0] = true;
  for (const char wanted : pattern) {
    std::vector<bool> next(text.size() + 1, false);
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const bool is_run = wanted == '*' && (matches[i] || (i > 0 && next[i - 1]));
      const bool is_one =
          wanted != '*' && i > 0 && matches[i - 1] && (wanted == '?' || wanted == text[i - 1]);
      next[i] = is_run || is_one;
    }
    matches = std::move(next);
  }
  return matches.back();
}

/// Pattern, line end, text.
void match_pattern(std::string_view input) {
  constexpr std::size_t kMostBytes = 256;
  const auto [pattern, text] = assay::split_at_first(input.substr(0, kMostBytes), '\n');
  ASSAY_CHECK(assay::is_glob_match(pattern, text) == is_match_by_definition(pattern, text));
  static_cast<void>(assay::advice_on_pattern(pattern));
}

constexpr assay::FuzzedParser kParsers[] = {
    {'g', read_known_gaps}, {'l', read_listing}, {'p', match_pattern}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
