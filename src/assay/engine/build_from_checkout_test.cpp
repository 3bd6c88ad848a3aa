#include "assay/engine/build_from_checkout.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/result.h"
#include "assay/engine/checkout_check.h"
#include "assay/engine/testing/fake_checkout.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class BuildFromCheckout : public FakeCheckout {
 protected:
  [[nodiscard]] CheckoutBuildRequest build_request(const std::string& backend) const {
    return {
        .label = "mine", .from = request(backend), .source = path("assay"), .home = path("home")};
  }
  [[nodiscard]] Result<EngineBuild> build(const CheckoutBuildRequest& asked) const {
    return build_from_checkout(asked, check_checkout(asked.from).value());
  }
};

TEST_F(BuildFromCheckout, CompilesLibrariesAndThenARunnerThatLoadsThem) {
  auto asked = build_request("vulkan");
  asked.from.backends.push_back(find_checkout_backend("llm").value());
  // The scripted cmake makes no runner.
  EXPECT_EQ(build(asked).error().code, ErrorCode::kUnavailable);
  const auto calls = cmake_calls();
  const auto backends = path("home/engines/executorch@mine/backends/build").string();
  EXPECT_THAT(calls,
              AllOf(HasSubstr("--fresh -S " + path("assay/cmake/executorch_backends").string() +
                              " -B " + backends),
                    HasSubstr("-DASSAY_CHECKOUT=" + path("executorch").string()),
                    HasSubstr("-DASSAY_BACKENDS=vulkan;llm"),
                    HasSubstr("-DASSAY_MISSING_EXTENSIONS=GL_NEW"),
                    HasSubstr("-DGLSLC_PATH=" + path("bin/glslc").string()),
                    HasSubstr("--build " + backends +
                              " --target executorch_backend_vulkan executorch_kernels_llm")));
  EXPECT_THAT(calls,
              AllOf(HasSubstr("-DASSAY_EXECUTORCH_BACKENDS=" + backends +
                              "/lib/libexecutorch_backend_vulkan.so;" + backends +
                              "/lib/libexecutorch_kernels_llm.so"),
                    HasSubstr("-DASSAY_EXECUTORCH_BACKENDS_ORIGIN=vulkan, llm of ExecuTorch 1.5.0"),
                    HasSubstr("--fresh -S " + path("assay").string() + " -B "),
                    HasSubstr("--target assay-runner-executorch")));
}

TEST_F(BuildFromCheckout, NamesTheLogOfBackendsThatDoNotBuild) {
  const auto asked = build_request("vgf");
  const auto tools = check_checkout(asked.from).value();
  write_program("cmake", "exit 1\n");
  const auto built = build_from_checkout(asked, tools);
  EXPECT_EQ(built.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(built.error().message, AllOf(HasSubstr("the backends do not build from"),
                                           HasSubstr("executorch@mine/backends/build.log")));
}

}  // namespace
}  // namespace assay
