#include "assay/base/file_digests.h"

#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

class FileDigestsTest : public testing::Test {
 protected:
  void write(const std::string& content) const {
    ASSERT_TRUE(write_file_atomically(library_, content).has_value());
  }

  /// Keeps another digest than the content has: whoever reads the file tells the right
  /// one, and whoever trusts what is kept the wrong one.
  void falsify() const {
    auto document = read_json_file(kept_).value();
    for (auto& entry : document["files"]) {
      entry["sha256"] = "kept";
    }
    ASSERT_TRUE(write_file_atomically(kept_, document.dump()).has_value());
  }

  /// Keeps the digest of a file that is old enough.
  void keep() const {
    write("first");
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    FileDigests digests(kept_);
    EXPECT_EQ(digests.digest_of(library_).value(), sha256_hex("first"));
    ASSERT_TRUE(digests.write().has_value());
    falsify();
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
  std::filesystem::path library_ = folder_.path() / "library.so";
  std::filesystem::path kept_ = folder_.path() / "digests.json";
};

TEST_F(FileDigestsTest, ReadsAFileOnceAndAgainWhenItChanged) {
  keep();
  EXPECT_EQ(FileDigests(kept_).digest_of(library_).value(), "kept") << "it is not read again";
  write("other");
  EXPECT_EQ(FileDigests(kept_).digest_of(library_).value(), sha256_hex("other"));
}

TEST_F(FileDigestsTest, DoesNotTrustAFileThatHasJustChanged) {
  write("first");
  FileDigests digests(kept_);
  EXPECT_EQ(digests.digest_of(library_).value(), sha256_hex("first"));
  ASSERT_TRUE(digests.write().has_value());
  EXPECT_FALSE(std::filesystem::exists(kept_)) << "there is nothing to keep";
}

TEST_F(FileDigestsTest, TakesADamagedFileForAnEmptyOne) {
  write("first");
  ASSERT_TRUE(
      write_file_atomically(kept_, R"({"schema": "assay/file-digests/1", "files": {"/a": 1}})")
          .has_value());
  EXPECT_EQ(FileDigests(kept_).digest_of(library_).value(), sha256_hex("first"));
}

TEST_F(FileDigestsTest, TellsThatAFileIsMissing) {
  EXPECT_EQ(FileDigests(kept_).digest_of(library_).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace assay
