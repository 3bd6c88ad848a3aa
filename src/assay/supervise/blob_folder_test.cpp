#include "assay/supervise/blob_folder.h"

#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <thread>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/supervise/checked_files.h"

namespace assay {
namespace {

/// Another agent finishes it while this one looks for it: a host that asked that one relies on it.
TEST(BlobFolder, RemovesNoBlobThatAppearsWhileItIsLookedFor) {
  const auto folder = TemporaryFolder::make("assay-blobs").value();
  const std::string content = "whole";
  const auto sha256 = sha256_hex(content);
  ASSERT_TRUE(write_file_atomically(folder.path() / "whole", content));
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const auto blobs = folder.path() / std::to_string(i);
    std::filesystem::create_directory(blobs);
    std::atomic<bool> begins = false;
    std::jthread finishes([&] {
      begins = true;
      std::filesystem::create_hard_link(folder.path() / "whole", blobs / sha256);
    });
    while (!begins) {
      std::this_thread::yield();
    }
    CheckedFiles checked;
    ASSERT_TRUE(BlobFolder(blobs, checked).has(sha256));
    finishes.join();
    ASSERT_TRUE(std::filesystem::exists(blobs / sha256)) << "in try " << i;
  }
}

}  // namespace
}  // namespace assay
