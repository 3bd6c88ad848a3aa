#include "assay/cli/common_flags.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/base/units.h"
#include "assay/cli/configured.h"
#include "assay/cli/output_file.h"
#include "assay/cli/terminal.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"
#include "assay/spec/recipes.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"
#include "assay/store/store_address.h"

namespace assay::cli {
namespace {

constexpr const char* kPluginVariable = "ASSAY_PLUGINS";

std::string default_store() {
  const auto configured = configuration().text("store");
  if (configured.empty()) {
    return assay_home() / "assay.db";
  }
  return is_database_url(configured) ? configured : std::filesystem::absolute(configured).string();
}

Result<std::unique_ptr<ResultStore>> open_store(const std::string& address, StoreAccess access) {
  auto store = open_result_store(address, access);
  if (!store) {
    return fail_with_context(std::move(store).error(), "the store");
  }
  return store;
}

std::string known_endings() {
  std::vector<std::string_view> endings;
  for (const auto& format : report_formats()) {
    endings.push_back(format.extension);
  }
  return fmt::format("{}", fmt::join(endings, ", "));
}

/// The format that a file's ending names. `flag` is what named the file.
Result<ReportFormat> format_from_ending(const std::string& file, std::string_view flag) {
  const auto ending = std::filesystem::path(file).extension().string();
  const ReportFormat* found = nullptr;  // ".fai-pep.json" before ".json".
  for (const auto& format : report_formats()) {
    if (file.ends_with(format.extension) &&
        (found == nullptr || format.extension.size() > found->extension.size())) {
      found = &format;
    }
  }
  if (found != nullptr) {
    return *found;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} {}: no format has the extension '{}'; use one of {}", flag, file,
                          ending, known_endings()));
}

ReportStyle style_of(bool is_stdout, ReportStyle style) {
  if (is_stdout && ::isatty(STDOUT_FILENO) == 1) {
    style.is_terminal = has_colour(STDOUT_FILENO);
    style.width_columns = terminal_width_columns(STDOUT_FILENO).value_or(style.width_columns);
  }
  return style;
}

/// Makes the number of bytes of "500MB"; the answer is empty, or what is wrong with it.
std::string bytes_in_place(std::string& text) {
  const auto bytes = bytes_from_text(text);
  if (!bytes) {
    return bytes.error().message;
  }
  text = std::to_string(*bytes);
  return {};
}

Status write_to_file(const ReportFormat& format, const ReportFlags::WriteFormat& write_format,
                     const ReportStyle& style, const std::string& file) {
  std::ostringstream text;
  ASSAY_RETURN_IF_ERROR(write_format(format.name, style, text));
  auto written = write_output_file(file, text.view());
  if (!written) {
    written.error().message += "; the results are stored, `assay report` writes them again";
  }
  return written;
}

Status write_to_stdout(const ReportFormat& format, const ReportFlags::WriteFormat& write_format,
                       const ReportStyle& style) {
  std::ostringstream text;
  ASSAY_RETURN_IF_ERROR(write_format(format.name, style, text));
  write_stdout(text.view());
  return {};
}

}  // namespace

void StoreFlags::declare(CLI::App& app) {
  app.add_option("--store", path,
                 "Database that holds the results: a file, or postgresql://user@host/name "
                 "[default: " +
                     default_store() + "]");
}

std::string StoreFlags::address() const { return path.empty() ? default_store() : path; }

std::string StoreFlags::short_name() const {
  const auto whole = address();
  const auto place = is_database_url(whole) ? whole.substr(0, whole.find('?')) : whole;
  return std::filesystem::path(place).filename().string();
}

Result<std::unique_ptr<ResultStore>> StoreFlags::open() const {
  if (!path.empty() && !is_database_url(path)) {
    ASSAY_RETURN_IF_ERROR(check_parent_folder(path, "--store"));
  }
  return open_store(address(), StoreAccess::kWrite);
}

Result<std::unique_ptr<ResultStore>> StoreFlags::open_existing() const {
  ASSAY_RETURN_IF_ERROR(check_exists());
  return open_store(address(), StoreAccess::kWrite);
}

Result<std::unique_ptr<ResultStore>> StoreFlags::open_to_read() const {
  ASSAY_RETURN_IF_ERROR(check_exists());
  return open_store(address(), StoreAccess::kRead);
}

Status StoreFlags::check_exists() const {
  const auto place = address();
  std::error_code error;
  if (is_database_url(place) || std::filesystem::exists(place, error)) {
    return {};
  }
  if (path.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the store has no runs yet ({} does not exist); `assay bench`, `assay "
                            "eval` and `assay run` create it",
                            place));
  }
  return fail(
      ErrorCode::kNotFound,
      fmt::format("--store {}: there is no such store; `assay doctor` shows the default store",
                  path));
}

std::string StoreFlags::report_command(const std::string& run) const {
  return fmt::format("assay report {}{}", run, path.empty() ? "" : " --store " + path);
}

void ReportFlags::declare(CLI::App& app) {
  declare_targets(app);
  app.add_option("--baseline", baseline,
                 "Recipe that speedups refer to, such as executorch/portable");
}

void ReportFlags::declare_targets(CLI::App& app) {
  format_option_ = app.add_option(
      "--format", format,
      "Format of the main report; \"list\" shows all formats [default: the extension of "
      "--out, else console]");
  app.add_option("--out", out, "File for the main report; - is stdout")->capture_default_str();
  app.add_option("--report", files,
                 "Further report file; its extension (.html, .json, …) names the format");
  app.add_flag("--verbose,-v", is_verbose,
               "Show all findings, notes and error metrics in the console report");
}

/// A file without an ending gets what stdout would. A configured format gives way to an ending.
Result<ReportFormat> ReportFlags::main_format() const {
  const bool is_named =
      !format.empty() && (format_option_ == nullptr || format_option_->count() > 0);
  const bool has_ending = out != "-" && std::filesystem::path(out).has_extension();
  if (!is_named && has_ending) {
    return out.ends_with(".txt") ? get_report_format("console") : format_from_ending(out, "--out");
  }
  return get_report_format(format.empty() ? "console" : format);
}

bool ReportFlags::is_on_console() const {
  const auto main = main_format();
  return out == "-" && main && main->name == "console";
}

Status ReportFlags::check() const {
  if (is_list()) {
    for (const auto& known : report_formats()) {
      print_out("{:<8} {}\n", known.name, known.title);
    }
    return {};
  }
  ASSAY_RETURN_IF_ERROR(main_format());
  if (out != "-") {
    ASSAY_RETURN_IF_ERROR(check_output_file(out, inputs, "--out"));
  }
  for (const auto& file : files) {
    ASSAY_RETURN_IF_ERROR(format_from_ending(file, "--report"));
    ASSAY_RETURN_IF_ERROR(check_output_file(file, inputs, "--report"));
  }
  return {};
}

Status ReportFlags::check_baseline(const std::vector<std::string>& recipes) const {
  if (baseline.empty() || std::ranges::find(recipes, baseline) != recipes.end()) {
    return {};
  }
  return fail(ErrorCode::kNotFound, fmt::format("--baseline {}: no case has this recipe{}",
                                                baseline, suggestion_for(baseline, recipes)));
}

void ReportFlags::suggest_reports(const std::string& run, const StoreFlags& store) {
  const auto command = store.report_command(run);
  next_commands = {command + " --report report.html"};
  if (!is_verbose) {
    next_commands.push_back(command + " -v");
  }
}

Status ReportFlags::write(const RunSummary& summary, bool has_accuracy_tables) const {
  return write(
      [&summary](std::string_view name, const ReportStyle& style, std::ostream& target) {
        return write_report(name, summary, style, target);
      },
      {.has_accuracy_tables = has_accuracy_tables, .has_memory_tables = has_memory_tables});
}

Status ReportFlags::write(const WriteFormat& write_format, const ReportStyle& plain) const {
  ASSAY_ASSIGN_OR_RETURN(const auto first, main_format());
  const bool is_stdout = out == "-";
  auto chosen = plain;
  chosen.is_verbose = is_verbose;
  chosen.next_commands = next_commands;
  const auto style = style_of(is_stdout, chosen);
  ASSAY_RETURN_IF_ERROR(is_stdout ? write_to_stdout(first, write_format, style)
                                  : write_to_file(first, write_format, style, out));
  for (const auto& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const auto file_format, format_from_ending(file, "--report"));
    ASSAY_RETURN_IF_ERROR(write_to_file(file_format, write_format, chosen, file));
  }
  return {};
}

void ToolchainFlags::declare(CLI::App& app) {
  declare_sources(app);
  app.add_flag_callback(
      "--trust", [] { ::setenv("ASSAY_TRUST", "1", 1); },
      "Allow .pt2 files to run code that they contain (pickles, libraries)");
  app.add_option("--jobs", jobs, "Number of artifacts built in parallel")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
}

void ToolchainFlags::declare_sources(CLI::App& app) {
  app.add_option("--python", python,
                 "Python interpreter whose torch and executorch build the artifacts");
  app.add_option("--plugin", plugins,
                 "Python file with models and recipes, in addition to those in ASSAY_PLUGINS")
      ->check([](const std::string& plugin) {
        const auto file = std::filesystem::absolute(plugin).lexically_normal().string();
        return file.contains(':')
                   ? fmt::format(
                         "'{}' has a colon in its path, which separates the plug-ins in {}; "
                         "copy or link the file to a path without one",
                         file, kPluginVariable)
                   : std::string();
      });
}

std::vector<std::string> ToolchainFlags::plugin_files() const {
  std::vector<std::string> files;
  files.reserve(plugins.size());
  for (const auto& plugin : plugins) {
    files.push_back(std::filesystem::absolute(plugin).lexically_normal().string());
  }
  const char* named = std::getenv(kPluginVariable);
  std::istringstream paths(named == nullptr ? "" : named);
  for (std::string path; std::getline(paths, path, ':');) {
    if (!path.empty() && std::ranges::find(files, path) == files.end()) {
      files.push_back(path);
    }
  }
  return files;
}

void ToolchainFlags::apply() const {
  if (const auto files = plugin_files(); !files.empty()) {
    ::setenv(kPluginVariable, fmt::format("{}", fmt::join(files, ":")).c_str(), 1);
  }
}

Result<Json> ToolchainFlags::describe_plugins() const {
  const auto files = plugin_files();
  if (files.empty()) {
    return Json();
  }
  for (const auto& file : files) {
    if (!std::filesystem::exists(file)) {
      return fail(ErrorCode::kNotFound, fmt::format("plug-in '{}' does not exist", file));
    }
  }
  apply();
  ASSAY_ASSIGN_OR_RETURN(auto described, query_presets(default_python(python)));
  const auto broken = described.value("broken", std::map<std::string, std::string>());
  for (const auto& [plugin, error] : broken) {
    const auto text = fmt::format("the plug-in {} does not load: {}", plugin, error);
    if (std::ranges::find(files, plugin) != files.end()) {
      return fail(ErrorCode::kInvalidArgument, text);
    }
    log_line(LogLevel::kWarning, text);  // An installed one, which nobody named here.
  }
  return described;
}

Result<SpecContext> ToolchainFlags::context(std::string origin) const {
  // Whole paths: a stored run and the commands that it prints hold from any folder.
  SpecContext context{.origin = std::move(origin), .folder = std::filesystem::current_path()};
  auto described = describe_plugins();
  if (!described && described.error().code == ErrorCode::kUnavailable) {
    context.has_plugins = true;
    return context;
  }
  ASSAY_RETURN_IF_ERROR(described);
  if (described->is_null()) {
    return context;
  }
  static std::deque<RecipeCatalog> asked;  // contexts refer to them
  ASSAY_ASSIGN_OR_RETURN(auto catalog, RecipeCatalog::from_json(*described, "recipes of plug-ins"));
  context.catalog = &asked.emplace_back(std::move(catalog));
  const auto models = described->value("models", Json::object());
  for (const auto& [name, sentence] : models.items()) {
    context.plugin_models.push_back(name);
  }
  return context;
}

void RunFlags::declare_libraries(CLI::App& app) {
  app.add_option("--library", libraries,
                 "Load a shared library with delegates or kernels into every runner, or into those "
                 "of ENGINE only");
}

namespace {

bool is_flag_given(const CLI::App& app, const char* flag) {
  const auto* option = app.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

/// A plan goes to stdout, in few formats. Reports are those of the run: without one there are none.
void hold_plans_to_flags(CLI::App& app, const std::vector<std::string>& formats) {
  app.parse_complete_callback([&app, formats] {
    if (app.count("--dry-run") == 0) {
      return;
    }
    const bool is_known =
        !is_flag_given(app, "--format") ||
        std::ranges::find(formats, app.get_option("--format")->results().back()) != formats.end();
    if (!is_known || is_flag_given(app, "--out")) {
      throw CLI::ValidationError(
          fmt::format("--dry-run prints its plan on stdout, in the format {}: leave {} out",
                      fmt::join(formats, " or "), is_known ? "--out" : "--format"));
    }
    if (is_flag_given(app, "--report")) {
      log_line(LogLevel::kInfo, "--dry-run measures nothing, so no report is written");
    }
  });
}

}  // namespace

void RunFlags::declare(CLI::App& app, const std::vector<std::string>& plan_formats) {
  hold_plans_to_flags(app, plan_formats);
  app.add_flag("--quiet,-q", is_quiet, "Do not report progress on stderr");
  app.add_flag("--dry-run", is_dry_run,
               "Print the cases and their previous durations without running them");
  app.add_flag("--rebuild", is_rebuild,
               "Rebuild the artifacts and report whether their bytes changed");
  app.add_option("--label", labels, "Label to store with the run, such as commit=abc");
  declare_libraries(app);
  app.add_option("--only", only, "Run only the cases whose label or key contains SUBSTRING");
  app.add_option("--launch-timeout", launch_timeout,
                 "Kill a runner after this long, such as 30s [default: time budget plus 10 min]");
  app.add_option("--sensors", sensors,
                 "Read temperature, frequency, power and energy of the device during timed "
                 "launches this often, such as 250ms; or off, auto [default: auto]");
  app.add_option(
         "--memory-limit", memory_limit_bytes,
         "Kill a runner whose resident memory exceeds this size, such as 500MB [default: no limit]")
      ->transform(CLI::Validator(bytes_in_place, "SIZE [b, kb(=1000b), kib(=1024b), ...]"));
  sandbox.declare(app, "launches and toolchain jobs",
                  "on for commands, libraries given by path, .pt2 models and programs that the "
                  "toolchain reads");
}

void RunFlags::declare_job_timeout(CLI::App& app) {
  app.add_option("--job-timeout", job_timeout,
                 "Kill an ahead-of-time job after this long, such as 5min [default: "
                 "$ASSAY_BUILD_TIMEOUT, else 30min]");
}

}  // namespace assay::cli
