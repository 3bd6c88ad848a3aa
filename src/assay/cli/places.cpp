#include "assay/cli/places.h"

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <system_error>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/engine/installed_builds.h"
#include "assay/store/store_address.h"
#include "assay/supervise/blob_folder.h"

namespace assay::cli {

std::vector<Place> known_places(const StoreFlags& store) {
  return {{"store", store.address()},
          {"cache", assay_home() / "cache"},
          {"engines", engines_folder(assay_home())},
          {"blobs", default_blob_folder()}};
}

std::string bytes_text(std::int64_t bytes) { return text_from_bytes(static_cast<double>(bytes)); }

std::string text_from_place(const std::filesystem::path& place) {
  if (is_database_url(place.string())) {
    return place.string();
  }
  std::error_code error;
  return std::filesystem::exists(place, error)
             ? fmt::format("{}, {}", place.string(),
                           text_from_bytes(static_cast<double>(bytes_below(place))))
             : fmt::format("{}, does not exist yet", place.string());
}

}  // namespace assay::cli
