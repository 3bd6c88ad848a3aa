#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace assay {

/// An executable file of that name in the folders of $PATH, or of /usr/bin:/bin where it is not
/// set; a name with a slash is that file. nullopt: there is none.
std::optional<std::filesystem::path> find_on_path(std::string_view name);

}  // namespace assay
