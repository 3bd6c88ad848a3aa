#include <memory>
#include <nlohmann/json.hpp>

#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/execute_spec.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/verb.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

struct EvalOptions {
  QuickSpec quick;
  CampaignFlags flags;
};

Result<ExitCode> execute_eval(const EvalOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, options.quick.document({"evaluate"}));
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("assay eval"));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(document, context));
  return execute_spec(spec, options.flags);
}

}  // namespace

Execute declare_eval(CLI::App& app) {
  auto options = std::make_shared<EvalOptions>();
  options->quick.declare_model(app);
  options->quick.declare_gates(app);
  options->quick.declare_evaluation(app);
  options->flags.declare(app);
  options->flags.has_accuracy_tables = true;
  return [options] { return execute_eval(*options); };
}

}  // namespace assay::cli
