#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/cli/common_flags.h"

namespace assay::cli {

/// A file or folder where Assay keeps something: docs/reference/files.md.
struct Place {
  const char* name;
  std::filesystem::path path;
};

/// Store, cache, added engines, and the blobs of the agent on this machine.
std::vector<Place> known_places(const StoreFlags& store);

/// "1.2 MB"
std::string bytes_text(std::int64_t bytes);

/// "/home/me/.local/share/assay/cache, 1.2 MB", or that it is not there yet.
std::string text_from_place(const std::filesystem::path& place);

}  // namespace assay::cli
