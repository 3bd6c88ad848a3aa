#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// Where the files and programs lie that a program names without their paths: an object of names
/// and absolute paths beside it, in NAME.places.json for NAME.json. It is no part of the program,
/// so that other paths are no other program. Empty where there is none. Errors: kCorrupt for what
/// is no such object.
Result<std::map<std::string, std::string>> read_program_places(
    const std::filesystem::path& program);

/// The file of them.
std::filesystem::path places_file_of(const std::filesystem::path& program);

}  // namespace assay
