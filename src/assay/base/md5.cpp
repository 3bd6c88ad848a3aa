// As in digest.cpp, the low-level calls are meant.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "assay/base/md5.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <ios>
#include <openssl/md5.h>
#include <string>
#include <system_error>
#include <vector>

#include "assay/base/result.h"

namespace assay {

Result<std::string> md5_hex_of_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind != std::filesystem::file_type::not_found &&
      kind != std::filesystem::file_type::regular) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a regular file", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::kNotFound, fmt::format("cannot open '{}'", path.string()));
  }
  MD5_CTX context;
  MD5_Init(&context);
  std::vector<char> buffer(1 << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         file.gcount() > 0) {
    MD5_Update(&context, buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot read '{}'", path.string()));
  }
  std::array<unsigned char, MD5_DIGEST_LENGTH> digest{};
  MD5_Final(digest.data(), &context);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace assay
