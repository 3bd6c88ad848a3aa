#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "assay/base/fs.h"

namespace assay {

/// A folder of recorded system files that stands for "/" in tests.
class SampleRoot {
 public:
  SampleRoot() : folder_(TemporaryFolder::make("assay-root").value()) {}
  SampleRoot& with(std::string_view path, std::string_view content) {
    EXPECT_TRUE(write_file_atomically(folder_.path() / path, content)) << path;
    return *this;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace assay
