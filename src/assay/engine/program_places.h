#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// Paths of the files and programs that a program names without paths: an object of names
/// and absolute paths next to it, in NAME.places.json for NAME.json. It is no part of the program,
/// so that other paths are no other program. Empty if there is none. Errors: kCorrupt for what
/// is no such object.
Result<std::map<std::string, std::string>> read_program_places(
    const std::filesystem::path& program);

/// The file of them.
std::filesystem::path places_file_of(const std::filesystem::path& program);

}  // namespace assay
