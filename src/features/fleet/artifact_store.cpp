#include "features/fleet/artifact_store.h"

#include "features/fleet/object_store.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kScheme = "://";

/// A folder that all hosts see: SHA[0:2]/SHA.
class FolderStore final : public ArtifactStore {
 public:
  explicit FolderStore(stdfs::path folder) : folder_(std::move(folder)) {}

  Status put(const stdfs::path& file, const std::string& sha256) override {
    const auto target = place_of(sha256);
    std::error_code error;
    if (stdfs::exists(target, error)) {
      return {};
    }
    stdfs::create_directories(target.parent_path(), error);
    // Who reads sees the whole file or none, and so does another driver that puts the same one.
    const auto part = target.parent_path() / fmt::format(".{}", make_uuid7());
    stdfs::copy_file(file, part, error);
    if (!error) {
      stdfs::rename(part, target, error);
    }
    if (error) {
      std::error_code ignored;
      stdfs::remove(part, ignored);
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot put '{}' into the artifact store '{}': {}", file.string(),
                              folder_.string(), error.message()));
    }
    return {};
  }

  Status get(const std::string& sha256, const stdfs::path& target) override {
    std::error_code error;
    stdfs::copy_file(place_of(sha256), target, stdfs::copy_options::overwrite_existing, error);
    if (error) {
      return fail(error == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound
                                                                : ErrorCode::kUnavailable,
                  fmt::format("cannot get {} from the artifact store '{}': {}", sha256,
                              folder_.string(), error.message()));
    }
    return check_digest(target, sha256);
  }

 private:
  [[nodiscard]] stdfs::path place_of(const std::string& sha256) const {
    return folder_ / sha256.substr(0, 2) / sha256;
  }

  stdfs::path folder_;
};

}  // namespace

Status check_digest(const stdfs::path& file, const std::string& sha256) {
  ASSAY_ASSIGN_OR_RETURN(const auto digest, sha256_hex_of_file(file));
  if (digest == sha256) {
    return {};
  }
  std::error_code error;
  stdfs::remove(file, error);
  return fail(ErrorCode::kCorrupt,
              fmt::format("what the artifact store has as {} has another digest; remove it there, "
                          "and start the run again",
                          sha256));
}

Result<std::unique_ptr<ArtifactStore>> open_artifact_store(const std::string& reference,
                                                           const stdfs::path& python) {
  if (reference.starts_with(kObjectScheme)) {
    return open_object_store(reference, python);
  }
  if (reference.find(kScheme) != std::string::npos || !stdfs::path(reference).is_absolute()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no artifact store; write an absolute folder that the driver "
                            "and all workers see, or s3://BUCKET/PREFIX",
                            reference));
  }
  return std::make_unique<FolderStore>(reference);
}

}  // namespace assay
