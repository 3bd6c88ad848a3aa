#include "features/conform/conform_options.h"

#include "features/conform/conform_case.h"

#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"

namespace assay {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::optional<int> number_from(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

CaseSelection ConformOptions::selection() const {
  return {
      .suite = suite, .tier = tier, .match = match, .dtypes = dtypes, .seed = seed, .count = count};
}

Result<std::vector<ConformCase>> ConformOptions::share_of(
    const std::vector<ConformCase>& cases) const {
  if (shard.empty()) {
    return cases;
  }
  const auto slash = shard.find('/');
  const auto index = number_from(std::string_view(shard).substr(0, slash));
  const auto rest =
      slash == std::string::npos ? std::string_view() : std::string_view(shard).substr(slash + 1);
  const auto shards = number_from(rest);
  if (!index || !shards || *index < 1 || *index > *shards) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--shard {}: write I/N with I from 1 to N, such as 1/4", shard));
  }
  return shard_of(cases, *index - 1, *shards);
}

Result<std::int64_t> ConformOptions::job_timeout_ns() const {
  if (!job_timeout.empty()) {
    return duration_ns_from_text(job_timeout);
  }
  return (suite == "models" ? 900 : 120) * kNsPerSecond;
}

std::int64_t ConformOptions::launch_timeout_ns() const {
  return (suite == "models" ? 600 : 60) * kNsPerSecond;
}

ASSAY_DEFINE_JSON(ConformOptions, recipes, engines, options, threads, suite, tier, match, dtypes,
                  shard, batch, expand, seed, count, max_results, require_delegation, changed_since,
                  job_timeout, only, known_folder, libraries, launch_timeout, memory_limit_bytes)

}  // namespace assay
