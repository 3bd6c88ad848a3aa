#include "assay/cli/common_flags.h"

#include <asm-generic/ioctls.h>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/summary.h"
#include "assay/report/writer.h"
#include "assay/spec/recipes.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

std::filesystem::path default_store() { return assay_home() / "assay.db"; }

Result<ReportFormat> format_of_file(const std::string& file) {
  const auto extension = std::filesystem::path(file).extension().string();
  for (const auto& format : report_formats()) {
    if (format.extension == extension) {
      return format;
    }
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--report {}: no format has the extension '{}'; use .html, .json, "
                          ".jsonl, .csv, .md or .xml",
                          file, extension));
}

Status check_writable(const std::string& file) {
  // Appending opens without destroying what an earlier run left, should this one fail.
  const std::ofstream target(file, std::ios::app);
  if (!target) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot write '{}'; choose a file in a folder you may write", file));
  }
  return {};
}

ReportStyle style_of(bool is_stdout, ReportStyle style) {
  if (is_stdout && ::isatty(STDOUT_FILENO) == 1) {
    winsize size{};
    style.is_terminal = std::getenv("NO_COLOR") == nullptr;
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
      style.width_columns = size.ws_col;
    }
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
  std::ofstream target(file);
  ASSAY_RETURN_IF_ERROR(write_format(format.name, style, target));
  target.close();
  if (!target) {
    return fail(ErrorCode::kExhausted,
                fmt::format("cannot write '{}'; the results are in the store: assay report", file));
  }
  return {};
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
                 "Where results are kept [default: " + default_store().string() + "]");
}

Result<std::unique_ptr<ResultStore>> StoreFlags::open() const {
  auto store = open_sqlite_store(path.empty() ? default_store() : std::filesystem::path(path));
  if (!store) {
    return fail_with_context(std::move(store).error(), "the store");
  }
  return store;
}

void ReportFlags::declare(CLI::App& app) {
  declare_targets(app);
  app.add_option("--baseline", baseline, "Recipe that ratios refer to");
}

void ReportFlags::declare_targets(CLI::App& app) {
  app.add_option("--format", format, "Of the report on stdout, or list")->capture_default_str();
  app.add_option("--out", out, "File instead of stdout (-)")->capture_default_str();
  app.add_option("--report", files,
                 "One more report; its extension names the format (.html, .json, …)");
}

Status ReportFlags::check() const {
  if (format == "list") {
    for (const auto& known : report_formats()) {
      print_out("{:<8} {}\n", known.name, known.title);
    }
    return {};
  }
  ASSAY_RETURN_IF_ERROR(get_report_format(format));
  if (out != "-") {
    ASSAY_RETURN_IF_ERROR(check_writable(out));
  }
  for (const auto& file : files) {
    ASSAY_RETURN_IF_ERROR(format_of_file(file));
    ASSAY_RETURN_IF_ERROR(check_writable(file));
  }
  return {};
}

Status ReportFlags::write(const RunSummary& summary, bool has_accuracy_tables) const {
  return write(
      [&summary](std::string_view name, const ReportStyle& style, std::ostream& target) {
        return write_report(name, summary, style, target);
      },
      {.has_accuracy_tables = has_accuracy_tables, .has_memory_tables = has_memory_tables});
}

Status ReportFlags::write(const WriteFormat& write_format, const ReportStyle& plain) const {
  ASSAY_ASSIGN_OR_RETURN(const auto main_format, get_report_format(format));
  const bool is_stdout = out == "-";
  const auto style = style_of(is_stdout, plain);
  ASSAY_RETURN_IF_ERROR(is_stdout ? write_to_stdout(main_format, write_format, style)
                                  : write_to_file(main_format, write_format, style, out));
  for (const auto& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const auto file_format, format_of_file(file));
    ASSAY_RETURN_IF_ERROR(write_to_file(file_format, write_format, plain, file));
  }
  return {};
}

void ToolchainFlags::declare(CLI::App& app) {
  app.add_option("--python", python, "Interpreter whose torch and executorch make artifacts");
  app.add_option("--plugin", plugins, "Python file with models, recipes, engines or metrics");
  app.add_option("--jobs", jobs, "Artifacts made at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
}

void ToolchainFlags::apply() const {
  if (plugins.empty()) {
    return;
  }
  std::string joined;
  for (const auto& plugin : plugins) {
    joined += (joined.empty() ? "" : ":") + std::filesystem::absolute(plugin).string();
  }
  ::setenv("ASSAY_PLUGINS", joined.c_str(), 1);
}

SpecContext ToolchainFlags::context(std::string origin) const {
  SpecContext context{.origin = std::move(origin), .folder = ".", .has_plugins = !plugins.empty()};
  if (plugins.empty()) {
    return context;
  }
  apply();
  static std::deque<RecipeCatalog> asked;  // contexts refer to them
  if (const auto document = query_presets(default_python(python))) {
    if (auto catalog = RecipeCatalog::from_json(*document, "recipes of plug-ins")) {
      context.catalog = &asked.emplace_back(*std::move(catalog));
    }
  }
  return context;
}

void RunFlags::declare_libraries(CLI::App& app) {
  app.add_option(
      "--library", libraries,
      "[ENGINE=]FILE: shared library with delegates or kernels, loaded into every runner, "
      "or into those of this engine");
}

void RunFlags::declare(CLI::App& app) {
  app.add_flag("--quiet,-q", is_quiet, "No progress on stderr");
  app.add_flag("--dry-run", is_dry_run, "Print the cases and what each took last time, and stop");
  app.add_flag("--rebuild", is_rebuild,
               "Make artifacts again, and say whether the bytes are the same");
  app.add_option("--label", labels, "key=value, kept with the run");
  declare_libraries(app);
  app.add_option("--only", only, "Only cases whose label or key contains this text");
  app.add_option("--launch-timeout", launch_timeout,
                 "Then a runner is killed, with unit [default: time budget and 10 min]");
  app.add_option("--memory-limit", memory_limit_bytes,
                 "Resident memory at which a runner is killed: 500MB [default: none]")
      ->transform(CLI::Validator(bytes_in_place, "SIZE [b, kb(=1000b), kib(=1024b), ...]"));
}

}  // namespace assay::cli
