#include <memory>
#include <nlohmann/json.hpp>

#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/execute_spec.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/verb.h"
#include "assay/spec/program_format.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

struct AttributeOptions {
  QuickSpec quick;
  CampaignFlags flags;
};

Result<ExitCode> execute_attribute(const AttributeOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto document, options.quick.document({"evaluate"}));
  if (find_program_format(options.quick.model)) {
    return fail(ErrorCode::kInvalidArgument,
                "a finished program does not expose its layers; give the model and a recipe");
  }
  document["evaluate"]["against"] = {"float32", "qdq"};
  document["evaluate"]["layers"] = true;
  ASSAY_ASSIGN_OR_RETURN(const auto context, options.flags.toolchain.context("assay attribute"));
  ASSAY_ASSIGN_OR_RETURN(const auto spec, spec_from_json(document, context));
  return execute_spec(spec, options.flags);
}

}  // namespace

Execute declare_attribute(CLI::App& app) {
  auto options = std::make_shared<AttributeOptions>();
  options->quick.declare_model(app);
  options->quick.declare_samples(app);
  app.add_option("--bundle", options->flags.bundle,
                 "Folder to write the layer with the largest error to: program, inputs, expected "
                 "outputs and a spec that repeats it");
  options->flags.declare(app);
  return [options] { return execute_attribute(*options); };
}

}  // namespace assay::cli
