#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/listener.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/reduce_one.h"
#include "assay/cli/reduce_run.h"
#include "assay/cli/verb.h"
#include "assay/record/case.h"
#include "assay/reduce/bundle.h"

namespace assay::cli {
namespace {

/// Candidates pass and fail by design: none of that is news.
class Silence : public CampaignListener {
 public:
  bool should_stop() override { return is_interrupted(); }
};

Status write(const ReduceOptions& options, const ReductionReport& report, const Case& pattern) {
  const auto console = [&](bool /*has_colour*/) {
    return text_of_reduction(report, pattern) +
           (options.bundle.empty()
                ? ""
                : fmt::format("bundle: {}; {}\n", options.bundle, report.script));
  };
  const auto json = [&] { return text_of_document(document_of(report, pattern)) + "\n"; };
  return options.output.write({.console = console, .json = json});
}

Result<ExitCode> reduce_named(const ReduceOptions& options, const CampaignTools& tools) {
  const auto reduced = reduce_one(options, tools);
  if (!reduced && is_interrupted()) {
    return ExitCode::kInterrupted;
  }
  if (!reduced) {
    return std::unexpected(reduced.error());
  }
  ASSAY_RETURN_IF_ERROR(write(options, reduced->report, reduced->pattern));
  return is_interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
}

Result<ExitCode> execute_reduce(const ReduceOptions& options) {
  if (options.run.empty() == options.quick.model.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "give the model or the case that fails, or --run RUN for all failures of a run of "
                "assay conform");
  }
  ASSAY_RETURN_IF_ERROR(options.output.check());
  ASSAY_ASSIGN_OR_RETURN(const auto store, options.flags.store.open());
  const ArtifactCache cache(assay_home() / "cache");
  Silence silence;
  AotServers servers;
  auto tools = local_tools(*store, cache, options.flags.toolchain, silence);
  tools.servers = &servers;
  return options.run.empty() ? reduce_named(options, tools) : reduce_run(options, tools);
}

}  // namespace

Execute declare_reduce(CLI::App& app) {
  auto options = std::make_shared<ReduceOptions>();
  options->quick.declare_model(app);
  app.get_option("model")->required(false)->description(
      "Name of a case of assay conform, or a model: torchvision:NAME, file.py:FACTORY, model.pt2, "
      "aten:NAME");
  app.add_option(
      "--run", options->run,
      "Reduce every failure of this run of assay conform instead of a model, by id or latest");
  app.add_option("--match", options->match,
                 "With --run, reduce only the operators or cases that match PATTERN")
      ->delimiter(',');
  app.add_option("--check", options->check,
                 "Failure that a smaller case must show: same, numeric, crash, timeout, error, "
                 "not-delegated, slower-than=RECIPE:1.5")
      ->capture_default_str();
  app.add_option(
      "--bundle", options->bundle,
      "Folder to write program, inputs, expected outputs and a script that needs no Assay to");
  app.add_option("--replay", options->replay,
                 "File that keeps every verdict; the same command resumes from it");
  app.add_option("--budget", options->budget,
                 "Time limit, such as 10min; the smallest failing case found so far is kept")
      ->capture_default_str();
  app.add_option("--batch", options->batch, "Number of candidates built in parallel")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  options->output.declare(app);
  app.add_flag("--quiet,-q", options->flags.run.is_quiet, "Do not report steps on stderr");
  options->flags.run.declare_libraries(app);
  app.add_option("--launch-timeout", options->flags.run.launch_timeout,
                 "Kill a runner after this long, such as 30s [default: 1 min]");
  options->flags.toolchain.declare(app);
  options->flags.store.declare(app);
  return [options] { return execute_reduce(*options); };
}

}  // namespace assay::cli
