#include "assay/cli/conform_flags.h"

#include "features/conform/conform_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/quick_spec.h"
#include "assay/spec/spec.h"

namespace assay::cli {

void declare_conform_options(CLI::App& app, ConformOptions& options) {
  app.add_option(
         "--recipe", options.recipes,
         "Recipes by name (see assay list recipes), or a .json file with a recipe as in a spec")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--engine", options.engines,
                 "Engines, optionally with a build (see assay list engines) [default: the engine "
                 "of each recipe]")
      ->delimiter(',');
  app.add_option("--option", options.options,
                 "Engine option; several values make several cases, such as load_mode=mmap,file");
  app.add_option(
         "--threads", options.threads,
         "Numbers of threads; the same as --option threads=N [default: the engine's choice]")
      ->delimiter(',');
  app.add_option("--suite", options.suite, "Suite of cases")
      ->capture_default_str()
      ->check(CLI::IsMember({"operators", "models"}));
  app.add_option("--tier", options.tier,
                 "Selection of cases: quick for every commit, full for all, fuzz for --count "
                 "random calls from --seed")
      ->capture_default_str()
      ->check(CLI::IsMember({"quick", "full", "fuzz"}));
  app.add_option("--seed", options.seed, "Seed of the calls of tier fuzz")->capture_default_str();
  app.add_option("--count", options.count, "Number of calls that tier fuzz generates")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--match", options.match,
                 "Run only the operators or models that match PATTERN, such as 'aten.conv*'")
      ->delimiter(',');
  app.add_option("--dtype", options.dtypes,
                 "Run only the cases of these types, such as float32,int8")
      ->delimiter(',');
  app.add_option("--shard", options.shard,
                 "Run the I-th of N shares of the cases; the shares have about the same cost");
  app.add_option("--batch", options.batch,
                 "Largest number of cases that share a program; with 1 each case has its own")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--expand", options.expand,
                 "Combinations of recipes, engines and options: full for all, pairwise for enough "
                 "that every two values occur together")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "pairwise"}));
  app.add_option("--max-cases,--max-results", options.max_results,
                 "Refuse to start if the run would have more results (cases times settings)")
      ->capture_default_str();
  app.add_option("--require-delegation", options.require_delegation,
                 "Minimum delegation for a case to pass")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "partial", "none"}));
  app.add_option("--changed-since", options.changed_since,
                 "Reuse the passes of this earlier run, by id or latest, where case, engine, "
                 "toolchain and machine are unchanged, and test the rest");
  app.add_option("--job-timeout", options.job_timeout,
                 "Kill an ahead-of-time job after this long, such as 5min [default: 2 min; for "
                 "models 15 min]");
}

void keep_flags(const RunFlags& flags, const std::string& known_folder, ConformOptions& options) {
  options.only = flags.only;
  options.known_folder =
      known_folder.empty() ? "" : std::filesystem::absolute(known_folder).string();
  options.libraries = flags.libraries;
  options.launch_timeout = flags.launch_timeout;
  options.memory_limit_bytes = flags.memory_limit_bytes;
}

void restore_flags(const ConformOptions& options, RunFlags& flags, std::string& known_folder) {
  const auto restore = [](const auto& kept, auto& given) { given = given.empty() ? kept : given; };
  restore(options.only, flags.only);
  restore(options.known_folder, known_folder);
  restore(options.libraries, flags.libraries);
  restore(options.launch_timeout, flags.launch_timeout);
  if (flags.memory_limit_bytes == 0) {
    flags.memory_limit_bytes = options.memory_limit_bytes;
  }
}

Result<Spec> spec_from_conform_options(const ConformOptions& options, SpecContext context) {
  const QuickSpec quick{.recipes = options.recipes,
                        .engines = options.engines,
                        .options = options.options,
                        .threads = options.threads};
  ASSAY_ASSIGN_OR_RETURN(auto document, quick.document({"evaluate"}));
  document["expand"] = options.expand;
  context.has_models = false;
  return spec_from_json(document, context);
}

}  // namespace assay::cli
