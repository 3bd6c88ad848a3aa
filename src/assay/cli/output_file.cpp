#include "assay/cli/output_file.h"

#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {
namespace {

bool is_database(const std::string& file) {
  constexpr std::string_view kHead = "SQLite format 3";
  std::string head(kHead.size(), '\0');
  std::ifstream source(file, std::ios::binary);
  return source.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kHead;
}

}  // namespace

Status check_parent_folder(const std::filesystem::path& file, std::string_view flag) {
  const auto folder = file.parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::exists(folder, error)) {
    return {};
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("{} {}: folder '{}' does not exist; create it, or name another file",
                          flag, file.string(), folder.string()));
}

Status check_output_file(const std::string& file, const std::vector<std::string>& inputs,
                         std::string_view flag) {
  ASSAY_RETURN_IF_ERROR(check_parent_folder(file, flag));
  if (is_database(file)) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is a database that the report would overwrite; name another file", file));
  }
  for (const auto& input : inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(file, input, error)) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format(
              "'{}' is an input of this command that the report would overwrite; name another file",
              file));
    }
  }
  // Appending opens without destroying what an earlier run left, should this one fail.
  const std::ofstream target(file, std::ios::app);
  if (!target) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("cannot write '{}'; choose a file in a folder that you may write to", file));
  }
  return {};
}

}  // namespace assay::cli
