#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/labels.h"
#include "assay/cli/verb.h"
#include "assay/site/site.h"
#include "assay/site/write_site.h"

namespace assay::cli {
namespace {

struct SiteFlags {
  std::string folder;
  int limit = 200;
  std::vector<std::string> labels;
  std::string purpose;
  std::string model;
  StoreFlags store;
};

Result<std::unique_ptr<site::Site>> open_static_site(const SiteFlags& options,
                                                     const std::filesystem::path& index_file) {
  ASSAY_ASSIGN_OR_RETURN(auto labels, label_filter_from_texts(options.labels));
  return site::Site::open({.open_store = [store = options.store] { return store.open_to_read(); },
                           .store_name = options.store.short_name(),
                           .index_file = index_file,
                           .filter = {.limit = options.limit,
                                      .made_by = options.purpose,
                                      .labels = std::move(labels),
                                      .model = options.model},
                           .is_static = true});
}

Result<ExitCode> execute_site(const SiteFlags& options) {
  ASSAY_RETURN_IF_ERROR(options.store.open_to_read());
  ASSAY_ASSIGN_OR_RETURN(const auto index, TemporaryFolder::make("assay-site"));
  ASSAY_ASSIGN_OR_RETURN(const auto site, open_static_site(options, index.path() / "index.db"));
  catch_interrupts();
  ASSAY_ASSIGN_OR_RETURN(const auto written,
                         site::write_site(*site, options.folder, [] { return !is_interrupted(); }));
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
  app.add_option("--limit", options->limit, "Number of runs, newest first; -1 takes all")
      ->capture_default_str();
  app.add_option("--label", options->labels,
                 "Select runs with this label: KEY=VALUE, or KEY for any value");
  app.add_option("--purpose", options->purpose,
                 "Select runs of this verb (bench, compare, …) or purpose (measure)");
  app.add_option("--model", options->model, "Select runs of a model whose name contains SUBSTRING");
  options->store.declare(app);
  return [options] { return execute_site(*options); };
}

}  // namespace assay::cli
