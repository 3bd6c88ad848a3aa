#include "assay/device/loaded_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <link.h>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::array<std::string_view, 2> kSystem = {"/usr/", "/lib"};

void insert_folder(const stdfs::path& file, std::set<std::string>& folders) {
  std::error_code error;
  const auto real = stdfs::canonical(file, error).string();
  const bool is_of_system = std::ranges::any_of(
      kSystem, [&real](std::string_view prefix) { return real.starts_with(prefix); });
  if (!error && !is_of_system) {
    folders.insert(stdfs::path(real).parent_path().string());
  }
}

int visit_library(dl_phdr_info* info, std::size_t /*size*/, void* folders) {
  const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (name.starts_with('/')) {
    insert_folder(name, *static_cast<std::set<std::string>*>(folders));
  }
  return 0;
}

}  // namespace

std::vector<std::string> folders_of_loaded_files() {
  std::set<std::string> folders;
  insert_folder("/proc/self/exe", folders);
  ::dl_iterate_phdr(visit_library, &folders);
  return {folders.begin(), folders.end()};
}

}  // namespace assay
