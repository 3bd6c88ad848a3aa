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

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/cli/sandbox_flag.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// Flags of every verb that reads or writes the store.
struct StoreFlags {
  std::string path;

  void declare(CLI::App& app);
  /// Address of the store: `path`, or the default; a file or the URL of a database.
  [[nodiscard]] std::string address() const;
  /// "results.db", "results": the last part of the address, for people.
  [[nodiscard]] std::string short_name() const;
  /// Opens the store to write to it, and makes it if there is none yet.
  /// Errors: kNotFound (the folder that was named does not exist), the store's.
  [[nodiscard]] Result<std::unique_ptr<ResultStore>> open() const;
  /// Opens a store that is there already to change it. Errors: kNotFound, the store's.
  [[nodiscard]] Result<std::unique_ptr<ResultStore>> open_existing() const;
  /// Opens a store for a verb that only reads: makes none, and leaves the file as it is.
  /// Errors: kNotFound (there is no store), the store's.
  [[nodiscard]] Result<std::unique_ptr<ResultStore>> open_to_read() const;
  /// "assay report ID", with --store where this is not the default one.
  [[nodiscard]] std::string report_command(const std::string& run) const;

 private:
  /// Errors: kNotFound, with what to do about it.
  [[nodiscard]] Status check_exists() const;
};

/// Flags of every verb that ends with a report.
struct ReportFlags {
  std::string format;  ///< Empty: by the ending of `out`, and console on stdout.
  std::string out = "-";
  bool has_memory_tables = false;
  bool is_verbose = false;
  std::vector<std::string> next_commands;  ///< Shown at the end of a console report.
  std::vector<std::string> files;  ///< More reports; each file's extension names its format.
  std::string baseline;
  std::vector<std::string> inputs;  ///< Files of the command, which no report may replace.

  void declare(CLI::App& app);
  /// The part of it that says where to and in which format.
  void declare_targets(CLI::App& app);
  /// Checks formats and that each file can be written and is no input and no store, before
  /// anything is measured.
  /// Errors: kNotFound (format, folder), kInvalidArgument (an ending, a file), kUnavailable (file).
  [[nodiscard]] Status check() const;
  /// The baseline is one of the recipes that the report shows. Errors: kNotFound.
  [[nodiscard]] Status check_baseline(const std::vector<std::string>& recipes) const;
  /// Sets the commands that a reader of a new run may want next: its page, and its full text.
  void suggest_reports(const std::string& run, const StoreFlags& store);
  /// Writes the summary to stdout or --out, and to every file.
  [[nodiscard]] Status write(const RunSummary& summary, bool has_accuracy_tables) const;
  /// Writes anything that knows the formats of report_formats().
  using WriteFormat =
      std::function<Status(std::string_view format, const ReportStyle& style, std::ostream& out)>;
  [[nodiscard]] Status write(const WriteFormat& write_format, const ReportStyle& plain) const;
  /// True if the formats are asked for, and nothing else.
  [[nodiscard]] bool is_list() const { return format == "list"; }
  /// True if the report is text for people on stdout.
  [[nodiscard]] bool is_on_console() const;

 private:
  [[nodiscard]] Result<ReportFormat> main_format() const;
  const CLI::Option* format_option_ = nullptr;  ///< Tells a given format from a configured one.
};

/// Flags of the verbs that may need a toolchain.
struct ToolchainFlags {
  std::string python;
  std::vector<std::string> plugins;
  int jobs = 2;

  void declare(CLI::App& app);
  /// The part of it that a verb needs that makes nothing: whose packages, and which plug-ins.
  void declare_sources(CLI::App& app);
  /// The files of --plugin, then those of ASSAY_PLUGINS.
  [[nodiscard]] std::vector<std::string> plugin_files() const;
  /// Hands the plug-ins to the toolchain through its environment.
  void apply() const;
  /// Describes what plug-ins add, as reported by the toolchain (`query_presets`); null without
  /// plug-ins. Calls `apply`. Errors: kNotFound (a file that is not there), kInvalidArgument (a
  /// plug-in that does not load, with Python's error), those of `query_presets`.
  [[nodiscard]] Result<Json> describe_plugins() const;
  /// Returns the context for reading a spec: with plug-ins, their recipes and models are known,
  /// too. Without a toolchain to ask, unknown names are left to it. Errors: those of
  /// `describe_plugins` that are the plug-in's.
  [[nodiscard]] Result<SpecContext> context(std::string origin) const;
};

/// Flags that say how a run is stored and shown.
struct RunFlags {
  bool is_quiet = false;
  bool is_dry_run = false;
  bool is_rebuild = false;
  std::vector<std::string> labels;     ///< key=value
  std::vector<std::string> libraries;  ///< Libraries of delegates or kernels: [ENGINE=]FILE.
  std::string only;                    ///< Part of a case's label or key.
  std::string launch_timeout;  ///< Duration with unit; empty: that of the pass and ten minutes.
  std::string job_timeout;     ///< Duration with unit; empty: build_timeout_ns.
  std::string sensors;         ///< "250ms", "off", "auto"; empty: the spec's.
  std::uint64_t memory_limit_bytes = 0;  ///< 0: none.
  SandboxFlag sandbox;

  /// `plan_formats`: those of --format that --dry-run can print its plan in.
  void declare(CLI::App& app, const std::vector<std::string>& plan_formats = {"console"});
  void declare_job_timeout(CLI::App& app);
  void declare_libraries(CLI::App& app);  ///< One of them, for verbs that take few.
};

}  // namespace assay::cli
