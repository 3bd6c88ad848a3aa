#include "assay/cli/watch_setup.h"

#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/listener.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/configured.h"
#include "assay/cli/labels.h"
#include "assay/record/repository.h"
#include "assay/repository/mirror.h"
#include "assay/repository/repository_spec.h"
#include "assay/watch/local_runner.h"
#include "assay/watch/verify.h"

namespace assay::cli {

void WatchFlags::declare(CLI::App& app) {
  app.add_option("file", file, "Repository file (docs/reference/repositories.md)")->required();
  app.add_option("--environment", environment,
                 "Environment of the repository file [default: its first]");
  app.add_flag("-q,--quiet", is_quiet, "Do not report progress on stderr");
  toolchain.declare(app);
  store.declare(app);
}

WatchSetup::WatchSetup() : artifacts(assay_home() / "cache") {}

Result<std::unique_ptr<WatchSetup>> WatchSetup::open(const WatchFlags& flags,
                                                     CampaignListener& listener) {
  std::unique_ptr<WatchSetup> setup(new WatchSetup());
  ASSAY_ASSIGN_OR_RETURN(setup->spec, read_configured_repository(flags.file));
  add_configured_device(setup->spec.labels);
  ASSAY_ASSIGN_OR_RETURN(setup->environment, get_environment(setup->spec, flags.environment));
  if (setup->spec.spec.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: needs \"spec\", the spec file that says what to measure",
                            setup->spec.origin));
  }
  ASSAY_ASSIGN_OR_RETURN(auto context, flags.toolchain.context(setup->spec.spec.string()));
  flags.toolchain.apply();
  setup->mirror =
      make_mirror(setup->spec, repository_folder(assay_home(), setup->spec.repository) / "mirror");
  ASSAY_RETURN_IF_ERROR(setup->fetch());
  ASSAY_ASSIGN_OR_RETURN(setup->store, flags.store.open());
  ASSAY_RETURN_IF_ERROR(setup->store->add_repository(setup->spec.repository));
  setup->runner = std::make_unique<watch::LocalRunner>(watch::LocalRunner::Parts{
      .spec = setup->spec,
      .environment = setup->environment,
      .mirror = *setup->mirror,
      .home = assay_home(),
      .tools = local_tools(*setup->store, setup->artifacts, flags.toolchain, listener),
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
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}..{} holds no commit; write GOOD..BAD, the older one first", since, tip));
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
