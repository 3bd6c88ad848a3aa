#include "assay/cli/result_flags.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/cli/output_file.h"
#include "assay/cli/terminal.h"

namespace assay::cli {
namespace {

constexpr auto kResultExtensions = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{".txt", "console"}, {".json", "json"}, {".md", "md"}});

Result<std::string> result_format_from_file(const std::string& file) {
  const auto extension = std::filesystem::path(file).extension().string();
  for (const auto& [known, format] : kResultExtensions) {
    if (known == extension) {
      return std::string(format);
    }
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--report {}: this verb has no format with the extension '{}'; use "
                          ".txt, .json or .md (assay report RUN makes a page of a stored run)",
                          file, extension));
}

std::string result_text(std::string_view format, const ResultTexts& texts, bool has_colour) {
  if (format == "json") {
    return texts.json();
  }
  return format == "md" ? "```text\n" + texts.console(false) + "```\n" : texts.console(has_colour);
}

}  // namespace

void ResultFlags::declare(CLI::App& app) {
  app.add_option("--format", format, "Format of the result: console, json or md")
      ->capture_default_str()
      ->check(CLI::IsMember({"console", "json", "md"}));
  app.add_option("--out", out, "File for the main report; - is stdout")->capture_default_str();
  app.add_option("--report", files,
                 "Further file; its extension (.txt, .json, .md) names the format");
}

Status ResultFlags::check() const {
  if (out != "-") {
    ASSAY_RETURN_IF_ERROR(check_output_file(out, {}, "--out"));
  }
  for (const auto& file : files) {
    ASSAY_RETURN_IF_ERROR(result_format_from_file(file));
    ASSAY_RETURN_IF_ERROR(check_output_file(file, {}, "--report"));
  }
  return {};
}

Status ResultFlags::write(const ResultTexts& texts) const {
  if (out == "-") {
    write_stdout(result_text(format, texts, has_colour(STDOUT_FILENO)));
  } else {
    ASSAY_RETURN_IF_ERROR(write_output_file(out, result_text(format, texts, false)));
  }
  for (const auto& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const auto file_format, result_format_from_file(file));
    ASSAY_RETURN_IF_ERROR(write_output_file(file, result_text(file_format, texts, false)));
  }
  return {};
}

}  // namespace assay::cli
