#include "assay/engine/build_device_engine.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/build_runner.h"

namespace assay {
namespace {

using testing::HasSubstr;

/// An installation of ExecuTorch that has nothing but its CMake package.
class DeviceEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_file_atomically(folder_.path() / "executorch-config.cmake", ""));
  }
  /// A cmake that writes its arguments down and builds nothing.
  std::filesystem::path scripted_cmake() {
    auto cmake = folder_.path() / "cmake";
    EXPECT_TRUE(write_file_atomically(
        cmake, "#!/bin/sh\necho \"$@\" >> " + arguments().string() + "\n", 0755));
    return cmake;
  }
  [[nodiscard]] std::filesystem::path arguments() const { return folder_.path() / "arguments"; }
  DeviceEngineRequest request() {
    return {.name = "executorch",
            .label = "mine",
            .prefix = folder_.path(),
            .triple = "aarch64-linux-gnu",
            .python = "/usr/bin/python3",
            .cmake = scripted_cmake(),
            .source = find_source_folder().value(),
            .home = folder_.path()};
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
};

TEST_F(DeviceEngineTest, BuildsABundleWithoutALoaderByAnotherToolchain) {
  auto asked = request();
  asked.toolchain = folder_.path() / "ndk.cmake";
  asked.sysroot = folder_.path();
  ASSERT_TRUE(write_file_atomically(asked.toolchain, ""));
  const auto built = build_device_engine(asked);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(*built, folder_.path() / "engines/executorch@mine/build/bundle/executorch");
  const auto said = read_file(arguments()).value();
  EXPECT_THAT(said, HasSubstr("-DCMAKE_TOOLCHAIN_FILE=" + asked.toolchain.string()));
  EXPECT_THAT(said, HasSubstr("-DCMAKE_FIND_ROOT_PATH=" + asked.sysroot.string()));
  EXPECT_THAT(said, HasSubstr("-DASSAY_BUNDLE_LOADER=OFF"));
  EXPECT_THAT(said, HasSubstr("-DASSAY_TRIPLE=aarch64-linux-gnu"));
  EXPECT_THAT(said, HasSubstr("-Dexecutorch_DIR=" + folder_.path().string()));
  EXPECT_THAT(said, HasSubstr("--target assay-bundle-executorch"));
}

TEST_F(DeviceEngineTest, BuildsADelegateByTheNameOfItsFolder) {
  auto asked = request();
  asked.name = "mine";
  asked.source = folder_.path() / "source";
  ASSERT_TRUE(write_file_atomically(asked.source / "delegates/mine/CMakeLists.txt", ""));
  asked.toolchain = folder_.path() / "executorch-config.cmake";
  const auto built = build_device_engine(asked);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->filename(), "libmine.so");
  EXPECT_THAT(read_file(arguments()).value(), HasSubstr("--target mine"));
}

TEST_F(DeviceEngineTest, NamesAMissingToolchainOrCompiler) {
  auto asked = request();
  asked.toolchain = folder_.path() / "none.cmake";
  EXPECT_EQ(build_device_engine(asked).error().code, ErrorCode::kNotFound);

  asked = request();
  asked.triple = "riscv64-linux-gnu";
  const auto unknown = build_device_engine(asked);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(unknown.error().message, HasSubstr("--toolchain FILE.cmake"));

  // A toolchain that Assay would have, for a compiler that no system has.
  asked.triple = "nowhere-none-none";
  asked.source = folder_.path() / "source";
  ASSERT_TRUE(write_file_atomically(asked.source / "cmake/nowhere-none-none.cmake", ""));
  std::filesystem::create_directories(asked.source / "src/assay");
  const auto bare = build_device_engine(asked);
  EXPECT_EQ(bare.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(bare.error().message, HasSubstr("install the package g++-nowhere-none-none"));
}

TEST_F(DeviceEngineTest, NamesWhatElseIsMissing) {
  auto asked = request();
  asked.name = "litert";
  EXPECT_EQ(build_device_engine(asked).error().code, ErrorCode::kUnsupported);
  asked = request();
  asked.prefix = folder_.path() / "empty";
  EXPECT_EQ(build_device_engine(asked).error().code, ErrorCode::kNotFound);
  asked = request();
  asked.source = folder_.path() / "elsewhere";
  const auto lacking = build_device_engine(asked);
  EXPECT_EQ(lacking.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(lacking.error().message, HasSubstr("ASSAY_SOURCE_DIR"));
}

}  // namespace
}  // namespace assay
