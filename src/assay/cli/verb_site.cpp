#include "features/site/site.h"
#include "features/site/write_site.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/listener.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/progress.h"
#include "assay/cli/run_filter_flags.h"
#include "assay/cli/verb.h"

namespace assay::cli {
namespace {

struct SiteFlags {
  std::string folder;
  int limit = 200;
  bool is_quiet = false;
  RunFilterFlags filter;
  StoreFlags store;
};

Result<std::unique_ptr<site::Site>> open_static_site(const SiteFlags& options,
                                                     const std::filesystem::path& index_file) {
  ASSAY_ASSIGN_OR_RETURN(auto filter, options.filter.filter(options.limit));
  return site::Site::open({.open_store = [store = options.store] { return store.open_to_read(); },
                           .store_name = options.store.short_name(),
                           .index_file = index_file,
                           .filter = std::move(filter),
                           .is_static = true});
}

/// Tells how far the site has come, and stops it where that is asked for.
class SiteWatch {
 public:
  explicit SiteWatch(bool is_quiet) : progress_(is_quiet) {}

  bool operator()(const site::SiteProgress& reached) {
    const PhaseProgress now{.done = static_cast<int>(reached.done),
                            .total = static_cast<int>(reached.total)};
    if (unit_ != reached.unit) {
      unit_ = reached.unit;
      // The first pages name the others, so a log is not told how many there are.
      const bool is_reading = unit_ == "run";
      progress_.on_phase(is_reading ? "reading" : "writing", unit_,
                         is_reading ? now : PhaseProgress());
    }
    progress_.on_progress(now);
    return !progress_.should_stop();
  }

 private:
  Progress progress_;
  std::string unit_;
};

Result<ExitCode> execute_site(const SiteFlags& options) {
  ASSAY_RETURN_IF_ERROR(options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(const auto index, TemporaryFolder::make("assay-site"));
  ASSAY_ASSIGN_OR_RETURN(const auto site, open_static_site(options, index.path() / "index.db"));
  catch_interrupts();
  const auto outcome = [&] {
    SiteWatch watch(options.is_quiet);  // Its line is gone when the result is told.
    return site::write_site(*site, options.folder, std::ref(watch));
  }();
  ASSAY_ASSIGN_OR_RETURN(const auto written, outcome);
  if (written.is_stopped) {
    log_line(LogLevel::kWarning, fmt::format("stopped; '{}' is as it was", options.folder));
    return ExitCode::kInterrupted;
  }
  print_out("{}: {} runs, {} files, {}\n",
            (std::filesystem::path(options.folder) / "index.html").string(), written.runs,
            written.files, text_from_bytes(static_cast<double>(written.bytes)));
  return written.unreadable == 0 ? ExitCode::kOk : ExitCode::kFindings;
}

}  // namespace

Execute declare_site(CLI::App& app) {
  auto options = std::make_shared<SiteFlags>();
  app.add_option("folder", options->folder,
                 "Folder for the pages: new, empty or of an earlier site")
      ->required();
  declare_limit(app, options->limit, "Number of runs, newest first; -1 takes all");
  options->filter.declare_flags(app);
  app.add_flag("--quiet,-q", options->is_quiet, "Do not report progress on stderr");
  options->store.declare(app);
  return [options] { return execute_site(*options); };
}

}  // namespace assay::cli
