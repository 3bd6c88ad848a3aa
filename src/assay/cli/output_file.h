#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

/// The folder of a file that is to be written exists: a mistyped one is not made. `flag` is what
/// named the file. Errors: kNotFound.
Status check_parent_folder(const std::filesystem::path& file, std::string_view flag);

/// Checks, before anything is measured, that a report can be written and takes the place of an
/// earlier report at most: of no database and none of `inputs`, the files that the command reads.
/// Errors: kNotFound (folder), kInvalidArgument, kUnavailable.
Status check_output_file(const std::string& file, const std::vector<std::string>& inputs,
                         std::string_view flag);

/// Writes a report: a file gets its new content whole, or keeps the old one; a pipe or a device is
/// written to as it is. Errors: kUnavailable, kExhausted (disk full), naming the file.
Status write_output_file(const std::filesystem::path& file, std::string_view content);

}  // namespace assay::cli
