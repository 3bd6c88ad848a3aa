#include "assay/campaign/device_engines.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/engine/installed_builds.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Nothing is built for it next to the tests.
constexpr const char* kTriple = "riscv64-linux-gnu";

class DeviceEnginesTest : public testing::Test {
 protected:
  /// Registers a bundle of a runner that is not one.
  void add_bundle(const std::string& engine, const std::string& triple,
                  const std::string& digest = sha256_hex("runner")) {
    const auto folder = home_.path() / "bundle";
    ASSERT_TRUE(write_file_atomically(folder / "run", "runner"));
    const auto document = R"({"triple": ")" + triple + R"(", "argv": ["run"], "files": {"run": ")" +
                          digest + R"("}})";
    ASSERT_TRUE(write_file_atomically(folder / "bundle.json", document));
    ASSERT_TRUE(register_build(home_.path(), {.name = engine,
                                              .label = "mine",
                                              .runner = (folder / "run").string(),
                                              .details = {{kBundleKey, folder.string()}}}));
  }
  /// Why an engine is not there; empty: it is in no list of the missing.
  std::string reason(const std::string& engine) {
    const auto missing = find_device_engines(home_.path(), kTriple).missing;
    const auto found = std::ranges::find(missing, engine, &MissingEngine::name);
    return found == missing.end() ? "" : found->reason;
  }

  TemporaryFolder home_ = TemporaryFolder::make("assay-test").value();
};

TEST_F(DeviceEnginesTest, SayOfEachEngineWhyItIsNotThere) {
  EXPECT_THAT(find_device_engines(home_.path(), kTriple).engines, IsEmpty());
  EXPECT_THAT(reason("executorch"), HasSubstr("--triple riscv64-linux-gnu"));
  EXPECT_THAT(reason("openvino"), HasSubstr("assay engine add openvino@NAME"));
  EXPECT_THAT(reason("onnxruntime"), HasSubstr("headers"));
  EXPECT_THAT(reason("litert"), HasSubstr("headers"));
  EXPECT_THAT(reason("torch"), HasSubstr("Python"));
  EXPECT_THAT(reason("fake"), HasSubstr("not for riscv64-linux-gnu"));
}

TEST_F(DeviceEnginesTest, AreThereWithABundleOfTheTriple) {
  add_bundle("openvino", kTriple);
  const auto found = find_device_engines(home_.path(), kTriple).engines;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "openvino");
  EXPECT_EQ(found[0].label, "mine");
  EXPECT_EQ(reason("openvino"), "");
}

TEST_F(DeviceEnginesTest, AreNotThereWithABundleOfAnotherTriple) {
  add_bundle("openvino", "sparc64-linux-gnu");
  EXPECT_THAT(reason("openvino"), HasSubstr("not built for riscv64-linux-gnu"));
}

TEST_F(DeviceEnginesTest, NameABundleThatHasChanged) {
  add_bundle("openvino", kTriple, sha256_hex("another"));
  EXPECT_THAT(reason("openvino@mine"), HasSubstr("make it again"));
}

}  // namespace
}  // namespace assay
