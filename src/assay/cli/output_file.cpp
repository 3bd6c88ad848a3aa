#include "assay/cli/output_file.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay::cli {
namespace {

bool is_database(const std::string& file) {
  constexpr std::string_view kHead = "SQLite format 3";
  std::string head(kHead.size(), '\0');
  std::ifstream source(file, std::ios::binary);
  return source.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kHead;
}

/// True if another file in its place would look like it to others.
bool is_replaceable(const std::filesystem::path& file) {
  struct stat status = {};
  return ::stat(file.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         ::access(file.parent_path().c_str(), W_OK) == 0;
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
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(file, ignored);
  // Appending opens without destroying what an earlier run left, should this one fail.
  const std::ofstream target(file, std::ios::app);
  if (target && is_new) {
    // If it is a link to nothing, the file that it leads to was made.
    std::filesystem::remove(std::filesystem::canonical(file, ignored), ignored);
  }
  if (!target) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("cannot write '{}'; choose a file in a folder that you may write to", file));
  }
  return {};
}

Status write_output_file(const std::filesystem::path& file, std::string_view content) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    return write_file_atomically(file, content, 0666);
  }
  // A link stays one, a file keeps its owner and its mode, and the folder may be one that nobody
  // may write to.
  const auto known = std::filesystem::canonical(file, error);
  if (std::filesystem::is_regular_file(status) && !error && is_replaceable(known)) {
    const auto replaced =
        write_file_atomically(known, content, static_cast<unsigned>(status.permissions()) & 0777U);
    if (replaced) {
      std::filesystem::permissions(known, status.permissions(), error);
    }
    // A file that is a mount of its own cannot be renamed over.
    if (replaced || replaced.error().code == ErrorCode::kExhausted) {
      return replaced;
    }
  }
  std::ofstream target(file, std::ios::binary);
  target << content;
  target.close();
  return target ? Status()
                : fail(ErrorCode::kExhausted,
                       fmt::format("cannot write '{}'; is the disk full?", file.string()));
}

}  // namespace assay::cli
