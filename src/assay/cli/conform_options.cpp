#include "assay/cli/conform_options.h"

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
#include "assay/cli/quick_spec.h"
#include "assay/conform/conform_case.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::optional<int> number_from(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

void ConformOptions::declare(CLI::App& app) {
  app.add_option("--recipe", recipes, "Recipes; assay list recipes")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--engine", engines, "Engines, with build if wanted; assay list engines")
      ->delimiter(',');
  app.add_option("--option", options, "name=value[,value]: an engine's option");
  app.add_option("--threads", threads, "Short for --option threads=…")->delimiter(',');
  app.add_option("--suite", suite, "operators or models")
      ->capture_default_str()
      ->check(CLI::IsMember({"operators", "models"}));
  app.add_option("--tier", tier,
                 "quick: what CI runs; full: everything; fuzz: drawn calls, see --seed and --count")
      ->capture_default_str()
      ->check(CLI::IsMember({"quick", "full", "fuzz"}));
  app.add_option("--seed", seed, "Of what tier fuzz draws")->capture_default_str();
  app.add_option("--count", count, "Cases that tier fuzz draws")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--match", match, "Patterns of operators or models: 'aten.conv*'")->delimiter(',');
  app.add_option("--dtype", dtypes, "Only cases of these types: float32,int8")->delimiter(',');
  app.add_option("--shard", shard, "i/n: this share of the cases, of about the same cost");
  app.add_option("--batch", batch, "Cases that share a program at most; 1: each has its own")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--expand", expand,
                 "full, or pairwise: settings in which every two values of recipes, engines and "
                 "options meet")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "pairwise"}));
  app.add_option("--max-cases,--max-results", max_results, "Refuse to begin with more results")
      ->capture_default_str();
  app.add_option("--require-delegation", require_delegation,
                 "A case of which less is delegated fails: full, partial or none")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "partial", "none"}));
  app.add_option(
      "--changed-since", changed_since,
      "Run whose passes hold where case, engine, toolchain and machine are the same: its "
      "id, or latest; all else is judged");
  app.add_option("--job-timeout", job_timeout,
                 "Then a job ahead of time is killed, with unit [default: 2 min, models 15 min]");
}

Result<Spec> ConformOptions::spec(const SpecContext& context) const {
  const QuickSpec quick{.model = "aten:case",
                        .recipes = recipes,
                        .engines = engines,
                        .options = options,
                        .threads = threads};
  ASSAY_ASSIGN_OR_RETURN(auto document, quick.document({"evaluate"}));
  document["expand"] = expand;
  return spec_from_json(document, context);
}

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
                fmt::format("--shard {}: write i/n with i from 1 to n, such as 1/4", shard));
  }
  return shard_of(cases, *index - 1, *shards);
}

Result<std::int64_t> ConformOptions::job_timeout_ns() const {
  if (!job_timeout.empty()) {
    return duration_ns_from_text(job_timeout);
  }
  return (suite == "models" ? 900 : 120) * kSecondNs;
}

std::int64_t ConformOptions::launch_timeout_ns() const {
  return (suite == "models" ? 600 : 60) * kSecondNs;
}

ASSAY_DEFINE_JSON(ConformOptions, recipes, engines, options, threads, suite, tier, match, dtypes,
                  shard, batch, expand, seed, count, max_results, require_delegation, changed_since,
                  job_timeout)

}  // namespace assay::cli
