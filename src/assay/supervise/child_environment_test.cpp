#include "assay/supervise/child_environment.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>

namespace assay {
namespace {

TEST(ChildEnvironment, HandsOnWhatEnginesNeedAndNoSecrets) {
  for (const auto* name :
       {"PATH", "LC_ALL", "OMP_NUM_THREADS", "LD_LIBRARY_PATH", "ASSAY_PLUGINS", "PYTHONPATH",
        "CUDA_VISIBLE_DEVICES", "OLDER_PROCESSOR", "ETVK_DEVICE_INDEX"}) {
    EXPECT_TRUE(is_passed_on(name, "")) << name;
  }
  for (const auto* name :
       {"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
        "HTTPS_PROXY", "LC", "NVIDIA_API_KEY", "TF_TOKEN_app_terraform_io", "TF_VAR_db",
        "ASSAY_SITE_READ_TOKEN", "ASSAY_SITE_ADD_TOKEN", "ASSAY_STORE", "CONDA_PASSWORD",
        "torch_hub_token", "INTEL_CLIENT_SECRET", "ET_CREDENTIALS"}) {
    EXPECT_FALSE(is_passed_on(name, "")) << name;
  }
}

TEST(ChildEnvironment, HandsOnTheNamesThatTheUserGives) {
  EXPECT_TRUE(is_passed_on("LICENSE", "LICENSE,VENDOR_*"));
  EXPECT_TRUE(is_passed_on("VENDOR_KEY", "LICENSE,VENDOR_*"));
  EXPECT_TRUE(is_passed_on("NVIDIA_API_KEY", "NVIDIA_API_KEY"));
  EXPECT_FALSE(is_passed_on("VENDOR", "LICENSE,VENDOR_*"));
  EXPECT_FALSE(is_passed_on("OTHER", "LICENSE,,VENDOR_*"));
}

TEST(ChildEnvironment, SearchPathsDoNotDependOnTheCurrentFolder) {
  ::setenv("PYTHONPATH", ":python::/opt/x:", 1);
  const auto here = std::filesystem::current_path() / "python";
  EXPECT_EQ(child_environment().at("PYTHONPATH"), here.string() + ":/opt/x");
  ::unsetenv("PYTHONPATH");
}

}  // namespace
}  // namespace assay
