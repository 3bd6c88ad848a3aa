#pragma once

#include <filesystem>
#include <string>

#include "assay/base/result.h"

namespace assay {

/// MD5 of a file's content as 32 lower-case hexadecimal digits, read in pieces: to check what
/// others name by it, never for identity. Errors: kInvalidArgument for what is no regular file,
/// kNotFound, kUnavailable (cannot be read).
Result<std::string> md5_hex_of_file(const std::filesystem::path& path);

}  // namespace assay
