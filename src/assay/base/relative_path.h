#pragma once

#include <filesystem>

namespace assay {

/// Whether a path that a document names stays below the folder that it is relative to: "lib/a.so"
/// does, "../a.so", "/a.so" and "" do not. Links are not followed.
inline bool stays_below(const std::filesystem::path& path) {
  const auto normal = path.lexically_normal();
  return !normal.empty() && !normal.is_absolute() && *normal.begin() != "..";
}

}  // namespace assay
