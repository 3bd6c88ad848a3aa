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

struct Options {
  QuickSpec quick;
  CampaignFlags flags;
  bool is_profiled = false;
};

Result<ExitCode> execute(const Options& options) {
  std::vector<std::string> passes = {"timing", "memory"};
  if (options.is_profiled) {
    passes.emplace_back("profile");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, options.quick.document(passes));
  ASSAY_ASSIGN_OR_RETURN(
      const auto spec,
      spec_from_json(document, {.origin = "assay bench",
                                .folder = ".",
                                .has_plugins = !options.flags.toolchain.plugins.empty()}));
  return execute_spec(spec, options.flags);
}

}  // namespace

Execute declare_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->quick.declare_model(app);
  options->quick.declare_gates(app);
  options->quick.declare_timing(app);
  app.add_flag("--profile", options->is_profiled, "Also times each operator, in a pass of its own");
  options->flags.declare(app);
  return [options] { return execute(*options); };
}

}  // namespace assay::cli
