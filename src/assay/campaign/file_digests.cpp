#include "assay/campaign/file_digests.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "assay/base/digest.h"
#include "assay/base/result.h"

namespace assay {

Result<std::string> FileDigests::get(const std::filesystem::path& file) {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(file, error);
  const auto known = digests_.find(file);
  if (!error && known != digests_.end() && known->second.changed == changed) {
    return known->second.sha256;
  }
  ASSAY_ASSIGN_OR_RETURN(auto digest, sha256_hex_of_file(file));
  digests_[file] = {.changed = changed, .sha256 = digest};
  return digest;
}

}  // namespace assay
