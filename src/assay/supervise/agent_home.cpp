#include "assay/supervise/agent_home.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace assay {
namespace {

std::filesystem::path variable_or(const char* name, const std::filesystem::path& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::filesystem::path(value) : otherwise;
}

}  // namespace

std::filesystem::path agent_home() {
  const auto cache = variable_or("XDG_CACHE_HOME", variable_or("HOME", "/tmp") / ".cache");
  const auto home = variable_or("ASSAY_AGENT_HOME", cache / "assay-agent");
  std::error_code error;
  auto absolute = std::filesystem::absolute(home, error);
  return error ? home : absolute;
}

}  // namespace assay
