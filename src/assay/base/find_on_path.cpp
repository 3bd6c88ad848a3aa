#include "assay/base/find_on_path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace assay {
namespace {

/// A folder may be searched, which is what X_OK says of it.
bool is_program(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::filesystem::path> find_on_path(std::string_view name) {
  if (name.contains('/')) {
    return is_program(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const auto colon = std::min(folders.find(':'), folders.size());
    auto file = std::filesystem::path(folders.substr(0, colon)) / name;
    if (is_program(file)) {
      return file;
    }
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return std::nullopt;
}

}  // namespace assay
