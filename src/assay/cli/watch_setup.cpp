#include "assay/cli/watch_setup.h"

#include "features/fleet/choose_group.h"
#include "features/fleet/executor.h"
#include "features/repository/mirror.h"
#include "features/repository/repository_spec.h"
#include "features/repository/states_at.h"
#include "features/repository/wheel_spec.h"
#include "features/watch/repository_runner.h"
#include "features/watch/verify.h"

#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/request_from_spec.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/configured.h"
#include "assay/cli/fleet_setup.h"
#include "assay/cli/labels.h"
#include "assay/cli/quick_spec.h"
#include "assay/record/repository.h"
#include "assay/spec/program_format.h"

namespace assay::cli {

void WatchFlags::declare(CLI::App& app) {
  app.add_option("file", file, "Repository file (docs/reference/repositories.md)")->required();
  app.add_option("--environment", environment,
                 "Environment of the repository file [default: its first]");
  declare_executor(app, executor);
  app.add_option("--device", devices,
                 "Devices of the fleet that measure: a name, or class:CLASS [default: its only "
                 "class]")
      ->delimiter(',')
      ->needs(app.get_option("--executor"));
  app.add_flag("-q,--quiet", is_quiet, "Do not report progress on stderr");
  toolchain.declare(app);
  store.declare(app);
}

WatchSetup::WatchSetup() : artifacts(assay_home() / "cache") {}

namespace {

/// A spec file, or a document that times a program or, for another metric, evaluates it.
Status read_measured(const SearchSource& source, RepositorySpec& spec) {
  const auto document = read_json_file(source.measured);
  const bool is_spec =
      document && document->is_object() && document->value("schema", "").starts_with("assay/spec/");
  if (is_spec) {
    spec.spec = std::filesystem::absolute(source.measured);
    return {};
  }
  if (!find_program_format(source.measured)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--spec {}: must be a spec file, or a finished program such as "
                            "model.onnx; `assay aot` makes one of a model",
                            source.measured));
  }
  QuickSpec quick;
  quick.model = std::filesystem::absolute(source.measured).string();
  const bool is_time = source.metric.ends_with("_ns");
  const std::vector<std::string> passes = {is_time ? "timing" : "evaluate"};
  ASSAY_ASSIGN_OR_RETURN(spec.measured, quick.document(passes));
  if (!is_time) {
    spec.measured["evaluate"] = {{"samples", quick.samples}};
  }
  return {};
}

}  // namespace

Status WatchSetup::read_spec(const WatchFlags& flags, const SearchSource& source) {
  ASSAY_ASSIGN_OR_RETURN(const auto versions, version_range_from_text(flags.file));
  if (versions) {
    ASSAY_ASSIGN_OR_RETURN(spec, repository_spec_of(*versions));
  } else {
    ASSAY_ASSIGN_OR_RETURN(spec, read_configured_repository(flags.file));
  }
  add_configured_device(spec.labels);
  use_python(default_python(flags.toolchain.python), spec);
  ASSAY_ASSIGN_OR_RETURN(environment, get_environment(spec, flags.environment));
  if (!source.measured.empty()) {
    return read_measured(source, spec);
  }
  if (spec.spec.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                versions
                    ? fmt::format("{}: say what to measure: --spec FILE", flags.file)
                    : fmt::format("{}: needs \"spec\", the spec file that says what to measure",
                                  spec.origin));
  }
  return {};
}

Status WatchSetup::open_mirror(const SearchSource& source) {
  mirror = make_mirror(spec, repository_folder(assay_home(), spec.repository) / "mirror");
  ASSAY_RETURN_IF_ERROR(fetch());
  if (!source.at.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto commit, mirror->resolve(source.at));
    ASSAY_ASSIGN_OR_RETURN(spec, spec_of_states(std::move(spec), commit));
    mirror = std::make_unique<StatesAt>(std::move(mirror), spec);
  }
  return {};
}

namespace {

/// One class of the fleet, or one device.
Result<ChosenDevices> choose_one_class(const WatchFlags& flags, Executor& executor) {
  ASSAY_ASSIGN_OR_RETURN(auto chosen, choose_devices_of(executor, flags.devices));
  if (chosen.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a history is measured on devices of one class, and {} were asked for; "
                            "name one with --device class:CLASS",
                            chosen.size()));
  }
  return std::move(chosen.front());
}

Result<watch::MeasuringPlace> place_from(const WatchFlags& flags) {
  if (flags.executor.empty()) {
    return watch::measured_here(assay_home());
  }
  ASSAY_ASSIGN_OR_RETURN(const auto executor,
                         open_executor_named(flags.executor, flags.toolchain.python));
  ASSAY_ASSIGN_OR_RETURN(const auto chosen, choose_one_class(flags, *executor.executor));
  ASSAY_ASSIGN_OR_RETURN(const auto campaigns,
                         campaigns_of(executor, chosen.requirement, flags.toolchain.python));
  return watch::MeasuringPlace{
      .device = [flags, executor]() -> Result<PlannedDevice> {
        ASSAY_ASSIGN_OR_RETURN(auto now, choose_one_class(flags, *executor.executor));
        return std::move(now.planned);
      },
      .execute = [campaigns](const auto& request,
                             const auto& tools) { return campaigns.execute(request, tools); },
      .compare = [campaigns](const auto& request, const auto& plan,
                             const auto& tools) { return campaigns.compare(request, plan, tools); },
      .is_here = false};
}

}  // namespace

Result<std::unique_ptr<WatchSetup>> WatchSetup::open(const WatchFlags& flags,
                                                     CampaignListener& listener,
                                                     const SearchSource& source) {
  std::unique_ptr<WatchSetup> setup(new WatchSetup());
  ASSAY_RETURN_IF_ERROR(setup->read_spec(flags, source));
  ASSAY_ASSIGN_OR_RETURN(auto context, flags.toolchain.context(setup->spec.spec.string()));
  flags.toolchain.apply();
  ASSAY_RETURN_IF_ERROR(setup->open_mirror(source));
  ASSAY_ASSIGN_OR_RETURN(setup->store, flags.store.open());
  ASSAY_RETURN_IF_ERROR(setup->store->add_repository(setup->spec.repository));
  ASSAY_ASSIGN_OR_RETURN(auto place, place_from(flags));
  setup->runner = std::make_unique<watch::RepositoryRunner>(watch::RepositoryRunner::Parts{
      .spec = setup->spec,
      .environment = setup->environment,
      .mirror = *setup->mirror,
      .home = assay_home(),
      .tools =
          campaign_tools(*setup->store, setup->artifacts, flags.toolchain, DeviceFlag(), listener),
      .place = std::move(place),
      .options = {.argv = program_argv(), .parallel_jobs = flags.toolchain.jobs},
      .context = std::move(context),
      .keep_going = [&listener] { return !listener.should_stop(); },
      .only = flags.only});
  return setup;
}

Status WatchSetup::fetch() {
  const auto update = mirror->update();
  if (!update) {
    return std::unexpected(update.error());
  }
  for (const auto& branch : update->rewritten) {
    log_line(
        LogLevel::kWarning,
        fmt::format("branch '{}' was force-pushed or removed; its old commits are kept", branch));
  }
  return {};
}

Result<std::vector<Revision>> WatchSetup::newest(int most) {
  ASSAY_ASSIGN_OR_RETURN(const auto tip, mirror->resolve("HEAD"));
  return mirror->log({.tip = tip, .since = {}, .limit = most});
}

Result<std::int64_t> WatchSetup::position_of(const std::string& since,
                                             const std::vector<Revision>& revisions) {
  if (since.empty() || revisions.empty()) {
    return 0;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto hash, mirror->resolve(since));
  ASSAY_ASSIGN_OR_RETURN(const auto later,
                         mirror->log({.tip = revisions.front().hash, .since = hash}));
  return later.empty() ? revisions.front().position : later.back().position - 1;
}

Result<std::vector<Revision>> WatchSetup::range(const std::string& since, const std::string& tip) {
  ASSAY_ASSIGN_OR_RETURN(const auto first, mirror->resolve(since));
  ASSAY_ASSIGN_OR_RETURN(const auto last, mirror->resolve(tip));
  ASSAY_ASSIGN_OR_RETURN(auto revisions, mirror->log({.tip = last, .since = first}));
  ASSAY_ASSIGN_OR_RETURN(auto ends, mirror->log({.tip = first, .since = {}, .limit = 1}));
  if (revisions.empty() || ends.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}..{} holds no {}; write GOOD..BAD, the older one first", since, tip,
                            noun_of_revisions(spec)));
  }
  revisions.push_back(std::move(ends.front()));
  return revisions;
}

watch::IncidentTools WatchSetup::incident_tools() {
  return {.spec = spec, .store = *store, .runner = *runner, .now_unix_ns = unix_time_ns};
}

std::filesystem::path watch_folder(const Repository& repository) {
  return repository_folder(assay_home(), repository);
}

}  // namespace assay::cli
