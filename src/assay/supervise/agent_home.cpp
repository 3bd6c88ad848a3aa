#include "assay/supervise/agent_home.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <stdlib.h>
#include <system_error>

#include <unistd.h>

#include "assay/base/abandoned_folders.h"
#include "assay/base/result.h"

namespace assay {
namespace {

std::filesystem::path variable_or(const char* name, const std::filesystem::path& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::filesystem::path(value) : otherwise;
}

/// True if files can be made in it; "/" is for the system's own.
bool is_usable_folder(const std::filesystem::path& folder) {
  std::error_code error;
  return folder.is_absolute() && folder != "/" && std::filesystem::is_directory(folder, error) &&
         ::access(folder.c_str(), W_OK | X_OK) == 0;
}

Status set_folder_variable(const char* name, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!is_usable_folder(folder)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot write to '{}'; set ASSAY_AGENT_HOME to a folder that can be "
                            "written, such as one below /data/local/tmp on a phone",
                            folder.string()));
  }
  ::setenv(name, folder.c_str(), 1);
  return {};
}

}  // namespace

std::filesystem::path agent_home() {
  const auto cache = variable_or("XDG_CACHE_HOME", variable_or("HOME", "/tmp") / ".cache");
  const auto home = variable_or("ASSAY_AGENT_HOME", cache / "assay-agent");
  std::error_code error;
  auto absolute = std::filesystem::absolute(home, error);
  return error ? home : absolute;
}

Status settle_in_agent_home() {
  if (variable_or("ASSAY_AGENT_HOME", "").empty()) {
    return {};
  }
  const auto home = agent_home();
  if (!is_usable_folder(variable_or("HOME", ""))) {
    ASSAY_RETURN_IF_ERROR(set_folder_variable("HOME", home / "home"));
  }
  if (!is_usable_folder(variable_or("TMPDIR", "/tmp"))) {
    ASSAY_RETURN_IF_ERROR(set_folder_variable("TMPDIR", home / "tmp"));
  }
  remove_abandoned_folders();  // Other programs do not clean up here.
  return {};
}

}  // namespace assay
