#include "features/repository/former_place.h"

#include <filesystem>
#include <system_error>

#include "assay/base/remove_tree.h"
#include "assay/base/result.h"

namespace assay {

Status remove_former_place(const std::filesystem::path& folder, const std::filesystem::path& path) {
  auto way = folder;
  for (const auto& part : path.parent_path()) {
    way /= part;
    std::error_code ignored;
    if (std::filesystem::is_symlink(way, ignored)) {
      return {};
    }
  }
  return remove_tree(folder / path);
}

}  // namespace assay
