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
#include "assay/supervise/blob_folder.h"

namespace assay::cli {

std::vector<Place> known_places(const StoreFlags& store) {
  return {{"store", store.file()},
          {"cache", assay_home() / "cache"},
          {"engines", engines_folder(assay_home())},
          {"blobs", default_blob_folder()}};
}

std::int64_t bytes_below(const std::filesystem::path& place) {
  std::error_code error;
  if (!std::filesystem::is_directory(place, error)) {
    const auto size = std::filesystem::file_size(place, error);
    return error ? 0 : static_cast<std::int64_t>(size);
  }
  std::int64_t bytes = 0;
  using std::filesystem::recursive_directory_iterator;
  for (recursive_directory_iterator entry(place, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    if (entry->is_regular_file(vanished)) {
      const auto size = entry->file_size(vanished);
      bytes += vanished ? 0 : static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

std::string text_from_place(const std::filesystem::path& place) {
  std::error_code error;
  return std::filesystem::exists(place, error)
             ? fmt::format("{}, {}", place.string(),
                           text_from_bytes(static_cast<double>(bytes_below(place))))
             : fmt::format("{}, not there yet", place.string());
}

}  // namespace assay::cli
