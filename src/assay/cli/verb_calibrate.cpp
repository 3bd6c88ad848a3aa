#include "features/compare/calibrate.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/progress.h"
#include "assay/cli/result_flags.h"
#include "assay/cli/verb.h"
#include "assay/record/calibration.h"
#include "assay/report/calibration.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

struct CalibrateOptions {
  std::string program;
  std::string budget = "30s";
  ResultFlags output;
  CampaignFlags flags;
};

Result<Calibration> run_calibration(const CalibrationRequest& request, ResultStore& store,
                                    const CalibrateOptions& options) {
  Progress progress(options.flags.run.is_quiet);
  const ArtifactCache cache(assay_home() / "cache");
  return calibrate(request, campaign_tools(store, cache, options.flags.toolchain,
                                           options.flags.device, progress));
}

Result<ExitCode> execute_calibrate(const CalibrateOptions& options) {
  ASSAY_RETURN_IF_ERROR(options.output.check());
  CalibrationRequest request{
      .program = options.program,
      .plan_campaign = [&options](const Spec& spec) { return plan_campaign(spec, options.flags); }};
  ASSAY_ASSIGN_OR_RETURN(request.budget_ns, duration_ns_from_text(options.budget));
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  ASSAY_ASSIGN_OR_RETURN(const auto calibration, run_calibration(request, *store, options));
  ASSAY_RETURN_IF_ERROR(options.output.write(
      {.console =
           [&](bool /*has_colour*/) { return report::console_from_calibration(calibration); },
       .json =
           [&] { return text_from_json(report::document_from_calibration(calibration)) + "\n"; }}));
  return ExitCode::kOk;
}

}  // namespace

Execute declare_calibrate(CLI::App& app) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option(
      "program", options->program,
      "Finished program to calibrate with [default: a loop of arithmetic and memory accesses]");
  app.add_option("--for", options->budget, "Time to launch pairs for, such as 30s")
      ->capture_default_str();
  options->output.declare(app);
  app.add_flag("-q,--quiet", options->flags.run.is_quiet, "Do not report progress on stderr");
  options->flags.store.declare(app);
  options->flags.device.declare(app);
  return [options] { return execute_calibrate(*options); };
}

}  // namespace assay::cli
