#include "assay/cli/user_home.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <pwd.h>
#include <stdlib.h>

#include <unistd.h>

#include "assay/base/result.h"

namespace assay::cli {
namespace {

/// Makes a relative ASSAY_HOME whole, for processes that work in other folders.
void settle_assay_home() {
  const char* const home = std::getenv("ASSAY_HOME");
  if (home != nullptr && *home != '\0') {
    ::setenv("ASSAY_HOME", std::filesystem::absolute(home).c_str(), 1);
  }
}

bool names_a_whole_path(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr && std::filesystem::path(text).is_absolute();
}

}  // namespace

Status settle_home() {
  settle_assay_home();
  if (names_a_whole_path("HOME")) {
    return {};
  }
  std::array<char, 1 << 14> texts{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::getuid(), &entry, texts.data(), texts.size(), &found);
  if (found != nullptr && std::filesystem::path(found->pw_dir).is_absolute()) {
    ::setenv("HOME", found->pw_dir, 1);
    return {};
  }
  return names_a_whole_path("ASSAY_HOME")
             ? Status()
             : fail(
                   ErrorCode::kUnavailable,
                   "this user has no home folder; set ASSAY_HOME to the folder of store and cache");
}

}  // namespace assay::cli
