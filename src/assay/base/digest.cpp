#include "assay/base/digest.h"

#include <boost/crc.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/sha256.h"

namespace assay {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
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
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (const auto read = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    hash.add({buffer.data(), read});
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot read '{}'", path.string()));
  }
  return hash.hex();
}

std::uint32_t crc32c(std::initializer_list<std::span<const std::byte>> parts) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> state;
  for (const auto part : parts) {
    state.process_bytes(part.data(), part.size());
  }
  return state.checksum();
}

}  // namespace assay
