#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// Where results are kept: every verb that reads or writes them.
struct StoreFlags {
  std::string path;

  void declare(CLI::App& app);
  /// Errors: the store's, saying how to choose another place.
  [[nodiscard]] Result<std::unique_ptr<ResultStore>> open() const;
  /// For what only reads: makes no store, and leaves the one that is there as it is.
  [[nodiscard]] Result<std::unique_ptr<ResultStore>> open_to_read() const;
};

/// Where a report goes: every verb that ends with one.
struct ReportFlags {
  std::string format = "console";
  std::string out = "-";
  bool has_memory_tables = false;
  std::vector<std::string> files;  ///< More reports; each file's extension names its format.
  std::string baseline;
  std::vector<std::string> inputs;  ///< Files of the command, which no report may replace.

  void declare(CLI::App& app);
  /// The part of it that says where to and in which format.
  void declare_targets(CLI::App& app);
  /// Checks formats and that each file can be written and is no input and no store, before
  /// anything is measured. Errors: kNotFound (format), kUnavailable (file), kInvalidArgument.
  [[nodiscard]] Status check() const;
  /// Writes the summary to stdout or --out, and to every file.
  [[nodiscard]] Status write(const RunSummary& summary, bool has_accuracy_tables) const;
  /// The same of anything that knows the formats of report_formats().
  using WriteFormat =
      std::function<Status(std::string_view format, const ReportStyle& style, std::ostream& out)>;
  [[nodiscard]] Status write(const WriteFormat& write_format, const ReportStyle& plain) const;
};

/// What makes artifacts: every verb that may need a toolchain.
struct ToolchainFlags {
  std::string python;
  std::vector<std::string> plugins;
  int jobs = 2;

  void declare(CLI::App& app);
  /// Hands the plug-ins to the toolchain through its environment.
  void apply() const;
  /// What a spec is read with: with plug-ins, their recipes are presets, too, where there is a
  /// toolchain to ask; otherwise unknown names are left to it. Calls `apply`.
  [[nodiscard]] SpecContext context(std::string origin) const;
};

/// How a run is noted and shown.
struct RunFlags {
  bool is_quiet = false;
  bool is_dry_run = false;
  bool is_rebuild = false;
  std::vector<std::string> labels;       ///< key=value
  std::vector<std::string> libraries;    ///< Of delegates or kernels: [ENGINE=]FILE.
  std::string only;                      ///< Part of a case's label or key.
  std::string launch_timeout;            ///< With unit; empty: time budget and ten minutes.
  std::uint64_t memory_limit_bytes = 0;  ///< 0: none.

  void declare(CLI::App& app);
  void declare_libraries(CLI::App& app);  ///< One of them, for verbs that take few.
};

}  // namespace assay::cli
