#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <span>

#include "assay/base/result.h"
#include "assay/cli/exit_code.h"

namespace assay::cli {

/// Runs a verb after its command line was parsed.
using Execute = std::function<Result<ExitCode>()>;

/// The use that a verb makes of the configuration.
enum class ConfigUse : std::uint8_t {
  kNeeded,    ///< A configuration that cannot be read is an error.
  kOptional,  ///< One that cannot be read is passed over.
  kNone,      ///< The verb shows built-in values, or reads the files itself.
};

/// One verb of the command line: `declare` adds its flags to `app` and returns what executes it.
struct Verb {
  const char* name;
  const char* group;  ///< Heading on the first page of help; empty: a verb that is not listed.
  const char* help;
  Execute (*declare)(CLI::App& app);
  const char* example = nullptr;  ///< A command line that --help shows.
  ConfigUse config_use = ConfigUse::kNeeded;
};

/// All verbs, in the order of --help.
std::span<const Verb> all_verbs();

// One file each: verb_<name>.cpp.
Execute declare_run(CLI::App& app);
Execute declare_bench(CLI::App& app);
Execute declare_calibrate(CLI::App& app);
Execute declare_history(CLI::App& app);
Execute declare_watch(CLI::App& app);
Execute declare_bisect(CLI::App& app);
Execute declare_compare(CLI::App& app);
Execute declare_conform(CLI::App& app);
Execute declare_eval(CLI::App& app);
Execute declare_fleet(CLI::App& app);
Execute declare_attribute(CLI::App& app);
Execute declare_aot(CLI::App& app);
Execute declare_import(CLI::App& app);
Execute declare_device(CLI::App& app);
Execute declare_init(CLI::App& app);
Execute declare_inspect(CLI::App& app);
Execute declare_list(CLI::App& app);
Execute declare_engine(CLI::App& app);
Execute declare_engine_add(CLI::App& app);    ///< `assay engine add`.
Execute declare_engine_build(CLI::App& app);  ///< `assay engine build`.
Execute declare_engine_check(CLI::App& app);  ///< `assay engine check`.
Execute declare_engine_gc(CLI::App& app);     ///< `assay engine gc`.
Execute declare_doctor(CLI::App& app);
Execute declare_profile(CLI::App& app);
Execute declare_reduce(CLI::App& app);
Execute declare_report(CLI::App& app);
Execute declare_runs(CLI::App& app);
Execute declare_store(CLI::App& app);
Execute declare_cache(CLI::App& app);
Execute declare_merge(CLI::App& app);
Execute declare_serve(CLI::App& app);
Execute declare_site(CLI::App& app);
Execute declare_work(CLI::App& app);
Execute declare_completion(CLI::App& app);
Execute declare_complete(CLI::App& app);  ///< Not in --help: the scripts of shells call it.
Execute declare_manual(CLI::App& app);    ///< Not in --help: the build calls it.

}  // namespace assay::cli
