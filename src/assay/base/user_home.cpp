#include "assay/base/user_home.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "assay/base/relative_path.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

stdfs::path without_links(const stdfs::path& path) {
  std::error_code error;
  auto resolved = stdfs::weakly_canonical(path, error);
  return error || resolved.empty() ? path : resolved;
}

/// Empty: the variable is not set.
stdfs::path path_in_variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? stdfs::path() : stdfs::path(text);
}

stdfs::path home_of_user() {
  const auto home = path_in_variable("HOME");
  return without_links(home.empty() ? "/root" : home);
}

/// Hidden folders of the home where programs are installed.
constexpr auto kInstalled = std::to_array<const char*>(
    {".local/bin", ".local/lib", ".local/share/uv", ".pyenv", ".conda", ".asdf"});

/// Folder of Hugging Face's models and data, which holds its access tokens, too.
std::vector<stdfs::path> hub_homes() {
  std::vector<stdfs::path> homes{home_of_user() / ".cache/huggingface"};
  if (const auto cache = path_in_variable("XDG_CACHE_HOME"); !cache.empty()) {
    homes.push_back(without_links(cache / "huggingface"));
  }
  if (const auto home = path_in_variable("HF_HOME"); !home.empty()) {
    homes.push_back(without_links(home));
  }
  return homes;
}

/// True if the path is or holds an access token of Hugging Face, or may.
bool reaches_token(const stdfs::path& resolved) {
  std::error_code error;
  const auto token = path_in_variable("HF_TOKEN_PATH");
  if (!token.empty() && path_below(without_links(token), resolved)) {
    return true;
  }
  return std::ranges::any_of(hub_homes(), [&](const stdfs::path& home) {
    if (const auto below = path_below(resolved, home)) {
      const bool is_direct = std::ranges::distance(*below) == 1;
      return below->empty() || (is_direct && !stdfs::is_directory(resolved, error));
    }
    return path_below(home, resolved) && stdfs::exists(home, error);
  });
}

/// Files of the kernel are those of whoever opens them, and whole disks: /proc, /dev.
bool is_of_kernel(const stdfs::path& resolved) {
  return path_below(resolved, "/proc") ||
         (path_below(resolved, "/dev") && !path_below(resolved, without_links("/dev/shm")));
}

}  // namespace

bool is_within(const stdfs::path& path, const stdfs::path& folder) {
  return !folder.empty() && path_below(without_links(path), without_links(folder)).has_value();
}

bool holds_home(const stdfs::path& folder) {
  std::error_code error;
  const auto resolved = stdfs::canonical(folder, error);
  return resolved.empty() || path_below(home_of_user(), resolved).has_value();
}

bool is_opened_as_a_whole(const stdfs::path& folder) {
  std::error_code error;
  const auto resolved = without_links(folder);
  return !holds_home(folder) && resolved != without_links("/dev/shm") && !is_of_kernel(resolved) &&
         (stdfs::is_regular_file(resolved, error) ||
          (stdfs::is_directory(resolved, error) && !reaches_token(resolved)));
}

bool is_in_user_cache(const stdfs::path& path) {
  return !reaches_token(without_links(path)) &&
         (is_within(path, home_of_user() / ".cache") ||
          is_within(path, path_in_variable("XDG_CACHE_HOME")) ||
          is_within(path, path_in_variable("HF_HOME")));
}

bool is_hidden_in_home(const stdfs::path& path) {
  const auto resolved = without_links(path);
  if (is_of_kernel(resolved) || reaches_token(resolved)) {
    return true;
  }
  const auto below = path_below(resolved, home_of_user());
  if (!below || below->empty() || is_in_user_cache(resolved)) {
    return false;
  }
  const auto is_installed = [&below](const char* folder) {
    return path_below(*below, folder).has_value();
  };
  return below->begin()->string().starts_with('.') &&
         std::ranges::none_of(kInstalled, is_installed);
}

}  // namespace assay
