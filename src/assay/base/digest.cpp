// The low-level SHA256_* calls, deprecated in OpenSSL 3, are meant: EVP pulls in the provider
// loader, which a static assay-agent cannot carry (dlopen) and which costs milliseconds at start.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#define OPENSSL_SUPPRESS_DEPRECATED

#include <array>
#include <boost/crc.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <openssl/sha.h>
#include <vector>

#include "assay/base/digest.h"

namespace assay {
namespace {

std::string hex_from_digest(SHA256_CTX& context) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &context);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  return hex_from_digest(context);
}

Result<std::string> sha256_hex_of_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind != std::filesystem::file_type::not_found &&
      kind != std::filesystem::file_type::regular) {  // A pipe or a device may have no end.
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a regular file", path.string()));
  }
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("cannot open '{}'", path.string()));
  }
  SHA256_CTX context;
  SHA256_Init(&context);
  std::vector<char> buffer(1 << 20);
  while (const auto read = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    SHA256_Update(&context, buffer.data(), read);
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot read '{}'", path.string()));
  }
  return hex_from_digest(context);
}

std::uint32_t crc32c(std::initializer_list<std::span<const std::byte>> parts) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> state;
  for (const auto part : parts) {
    state.process_bytes(part.data(), part.size());
  }
  return state.checksum();
}

}  // namespace assay
