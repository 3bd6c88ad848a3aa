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

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::optional<int> number_from(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

void ConformOptions::declare(CLI::App& app) {
  app.add_option(
         "--recipe", recipes,
         "Recipes by name (see assay list recipes), or a .json file with a recipe as in a spec")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--engine", engines,
                 "Engines, optionally with a build (see assay list engines) [default: the engine "
                 "of each recipe]")
      ->delimiter(',');
  app.add_option("--option", options,
                 "Engine option; several values make several cases, such as load_mode=mmap,file");
  app.add_option(
         "--threads", threads,
         "Numbers of threads; the same as --option threads=N [default: the engine's choice]")
      ->delimiter(',');
  app.add_option("--suite", suite, "Suite of cases")
      ->capture_default_str()
      ->check(CLI::IsMember({"operators", "models"}));
  app.add_option("--tier", tier,
                 "Selection of cases: quick for every commit, full for all, fuzz for --count "
                 "random calls from --seed")
      ->capture_default_str()
      ->check(CLI::IsMember({"quick", "full", "fuzz"}));
  app.add_option("--seed", seed, "Seed of the calls of tier fuzz")->capture_default_str();
  app.add_option("--count", count, "Number of calls that tier fuzz generates")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--match", match,
                 "Run only the operators or models that match PATTERN, such as 'aten.conv*'")
      ->delimiter(',');
  app.add_option("--dtype", dtypes, "Run only the cases of these types, such as float32,int8")
      ->delimiter(',');
  app.add_option("--shard", shard,
                 "Run the I-th of N shares of the cases; the shares have about the same cost");
  app.add_option("--batch", batch,
                 "Largest number of cases that share a program; with 1 each case has its own")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--expand", expand,
                 "Combinations of recipes, engines and options: full for all, pairwise for enough "
                 "that every two values occur together")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "pairwise"}));
  app.add_option("--max-cases,--max-results", max_results,
                 "Refuse to start if the run would have more results (cases times settings)")
      ->capture_default_str();
  app.add_option("--require-delegation", require_delegation,
                 "Minimum delegation for a case to pass")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "partial", "none"}));
  app.add_option("--changed-since", changed_since,
                 "Reuse the passes of this earlier run, by id or latest, where case, engine, "
                 "toolchain and machine are unchanged, and test the rest");
  app.add_option("--job-timeout", job_timeout,
                 "Kill an ahead-of-time job after this long, such as 5min [default: 2 min; for "
                 "models 15 min]");
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
                  job_timeout)

}  // namespace assay::cli
