#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// SHA-256 of a file's content, read in pieces. Errors: kNotFound, kUnavailable (cannot be read).
Result<std::string> sha256_hex_of_file(const std::filesystem::path& path);

/// CRC-32C (Castagnoli, RFC 3720 B.4) of the parts as one piece, as the wire's frames carry it.
std::uint32_t crc32c(std::initializer_list<std::span<const std::byte>> parts);

}  // namespace assay
