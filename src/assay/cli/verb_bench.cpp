#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/execute_spec.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/verb.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

constexpr int kLeakLoads = 20;
constexpr int kLeakInferences = 200;

struct BenchOptions {
  QuickSpec quick;
  CampaignFlags flags;
  bool is_profiled = false;
  bool is_leak_checked = false;
};

Result<ExitCode> execute_bench(const BenchOptions& options) {
  std::vector<std::string> passes = {"timing", "memory"};
  if (options.is_profiled) {
    passes.emplace_back("profile");
  }
  ASSAY_ASSIGN_OR_RETURN(auto document, options.quick.document(passes));
  if (options.is_leak_checked) {
    document["measure"]["leak_check"] = {{"loads", kLeakLoads}, {"inferences", kLeakInferences}};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("assay bench"));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(document, context));
  auto flags = options.flags;
  flags.report.has_memory_tables = options.is_leak_checked;
  return execute_spec(spec, flags);
}

}  // namespace

Execute declare_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  options->quick.declare_model(app);
  options->quick.declare_gates(app);
  options->quick.declare_timing(app);
  app.add_flag("--profile", options->is_profiled, "Time each operator in an additional pass");
  app.add_flag("--leak-check", options->is_leak_checked,
               "Check whether memory grows over 20 loads and 200 inferences");
  options->flags.declare(app);
  return [options] { return execute_bench(*options); };
}

}  // namespace assay::cli
