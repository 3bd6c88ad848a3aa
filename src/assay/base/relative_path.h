#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>

namespace assay {

/// True if a path that a document names stays below the folder that it is relative to: "lib/a.so"
/// does, "../a.so", "/a.so" and "" do not. Links are not followed.
inline bool stays_below(const std::filesystem::path& path) {
  const auto normal = path.lexically_normal();
  return !normal.empty() && !normal.is_absolute() && *normal.begin() != "..";
}

/// The rest of a path that lies below a folder: "b/c" of "/a/b/c" below "/a", "" of the folder
/// itself; absent of every other, and below "". Both are taken as they are written, absolute or
/// relative to one place, or the address of a file; links are not followed.
inline std::optional<std::filesystem::path> path_below(const std::filesystem::path& path,
                                                       const std::filesystem::path& folder) {
  const auto whole = path.lexically_normal();
  const auto start = (folder / "").lexically_normal().parent_path();
  const auto [end, rest] = std::ranges::mismatch(start, whole);
  if (start.empty() || end != start.end()) {
    return std::nullopt;
  }
  std::filesystem::path below;
  for (auto part = rest; part != whole.end(); ++part) {
    below /= *part;
  }
  return below;
}

}  // namespace assay
