#include "assay/remote/device_bundle.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/file_digests.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

TEST(DeviceBundle, HasThisProgramWithItsLoader) {
  FileDigests digests({});
  const auto program = executable_folder() / "assay_remote_test";
  const auto bundle = bundle_of_program(program, {}, digests);
  ASSERT_TRUE(bundle.has_value()) << bundle.error().message;
  ASSERT_EQ(bundle->argv.size(), 4U);
  EXPECT_TRUE(bundle->argv[0].starts_with("lib/ld-linux"));
  EXPECT_EQ(bundle->argv[3], "assay_remote_test");
  const auto libc = std::ranges::find(bundle->files, "lib/libc.so.6", &BundleFile::path);
  ASSERT_NE(libc, bundle->files.end());
  EXPECT_EQ(libc->sha256, sha256_hex_of_file(libc->source).value());
  EXPECT_FALSE(libc->is_executable);
  EXPECT_EQ(std::ranges::count_if(bundle->files, &BundleFile::is_executable), 2);
}

TEST(DeviceBundle, HasLibrariesThatTheProgramOpens) {
  FileDigests digests({});
  const auto program = executable_folder() / "assay_remote_test";
  const std::vector<std::string> loads = {"libresolv.so.?"};
  const auto bundle = bundle_of_program(program, loads, digests);
  ASSERT_TRUE(bundle.has_value()) << bundle.error().message;
  EXPECT_EQ(std::ranges::count(bundle->files, "lib/libresolv.so.2", &BundleFile::path), 1);
  EXPECT_EQ(std::ranges::count(bundle->files, "lib/libc.so.6", &BundleFile::path), 1);

  const std::vector<std::string> none = {"libnone*.so"};
  const auto lacking = bundle_of_program(program, none, digests);
  EXPECT_EQ(lacking.error().code, ErrorCode::kNotFound);
}

TEST(DeviceBundle, RefusesARunnerInPython) {
  FileDigests digests({});
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto script = folder.path() / "runner";
  ASSERT_TRUE(write_file_atomically(script, "#!/usr/bin/python3\n", 0755).has_value());
  EXPECT_EQ(bundle_of_program(script, {}, digests).error().code, ErrorCode::kUnsupported);
}

TEST(DeviceBundle, ReadsAFolderAndChecksItsFiles) {
  FileDigests digests({});
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto runner = folder.path() / "assay-runner-toy";
  ASSERT_TRUE(write_file_atomically(runner, "runner", 0755).has_value());
  const std::string digest = sha256_hex("runner");
  const auto document = R"({"triple": "aarch64-linux-gnu", "argv": ["assay-runner-toy"],)"
                        R"( "files": {"assay-runner-toy": ")" +
                        digest + R"("}})";
  ASSERT_TRUE(write_file_atomically(folder.path() / "bundle.json", document).has_value());
  const auto bundle = read_bundle(folder.path(), digests);
  ASSERT_TRUE(bundle.has_value()) << bundle.error().message;
  EXPECT_EQ(bundle->triple, "aarch64-linux-gnu");
  ASSERT_EQ(bundle->files.size(), 1U);
  EXPECT_TRUE(bundle->files[0].is_executable);

  ASSERT_TRUE(write_file_atomically(runner, "another", 0755).has_value());
  EXPECT_EQ(read_bundle(folder.path(), digests).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace assay
