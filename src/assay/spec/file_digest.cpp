#include "assay/spec/file_digest.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

Result<std::string> digest_file(const std::string& file, const std::string& where,
                                const PromisedFile& promised) {
  auto digest = sha256_hex_of_file(file);
  if (!digest) {
    const auto hint = promised.url.empty() ? "" : "; fetch it from " + promised.url;
    return fail(digest.error().code, fmt::format("{}: {}{}", where, digest.error().message, hint));
  }
  if (!promised.sha256.empty() && *digest != promised.sha256) {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: '{}' has SHA-256 {}, but the spec says {}; "
                                                 "fetch the file again or correct the spec",
                                                 where, file, *digest, promised.sha256));
  }
  return digest;
}

namespace {

Result<std::string> digest_folder(const std::filesystem::path& folder, const std::string& where) {
  Json content = Json::object();
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file(error)) {
      ASSAY_ASSIGN_OR_RETURN(content[entry->path().lexically_relative(folder).generic_string()],
                             digest_file(entry->path().string(), where));
    }
    if (error) {
      break;
    }
  }
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: cannot read '{}': {}", where, folder.string(), error.message()));
  }
  return digest_of_json(content);
}

}  // namespace

Result<std::string> digest_samples(const std::string& file, const std::string& where) {
  return std::filesystem::is_directory(file) ? digest_folder(file, where)
                                             : digest_file(file, where);
}

}  // namespace assay
