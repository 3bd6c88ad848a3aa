#include "assay/campaign/launch_paths.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/campaign/launch.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

/// A home with a key, a program from elsewhere, and a model of the user's own.
class LaunchPathsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& file : {key_, model_, home_ / "from/net.command.json"}) {
      ASSERT_TRUE(write_file_atomically(file, "{}"));
    }
    const char* const home = ::getenv("HOME");
    former_ = home == nullptr ? "" : home;
    ::setenv("HOME", home_.c_str(), 1);
    request_.sandbox = SandboxMode::kOn;
    request_.build.runner = "/bin/runner";
    request_.artifact = {.folder = (home_ / "from").string(), .entry = "net.command.json"};
  }

  void TearDown() override { ::setenv("HOME", former_.c_str(), 1); }

  void name(const Json& places) {
    ASSERT_TRUE(write_file_atomically(home_ / "from/net.command.places.json", places.dump()));
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-paths").value();
  std::filesystem::path home_ = folder_.path() / "user";
  std::filesystem::path key_ = home_ / ".ssh/id";
  std::filesystem::path model_ = home_ / "models/a.tflite";
  std::string former_;
  LaunchRequest request_;
};

TEST_F(LaunchPathsTest, OpenAPlaceAndTellIt) {
  name({{"graph", model_.string()}, {"own", (home_ / "from/lib").string()}});
  const auto paths = paths_of_launch(request_);
  EXPECT_THAT(paths.readable, Contains(model_.string()));
  EXPECT_THAT(paths.places, ElementsAre(model_.string()));
  EXPECT_THAT(paths.closed, IsEmpty());
  EXPECT_THAT(sandbox_request_from(request_).readable, Contains(model_.string()));
}

TEST_F(LaunchPathsTest, KeepTheKeysOfTheUserClosed) {
  const auto link = home_ / "from/link";
  std::filesystem::create_directory_symlink(home_ / ".ssh", link);
  const auto former = std::filesystem::current_path();
  std::filesystem::current_path(home_);
  name({{"a", key_.string()}, {"b", "/proc/self/cwd/.ssh"}, {"c", (link / "id").string()}});
  const auto paths = paths_of_launch(request_);
  const auto box = sandbox_request_from(request_);
  std::filesystem::current_path(former);
  EXPECT_THAT(paths.closed,
              ElementsAre(key_.string(), "/proc/self/cwd/.ssh", (link / "id").string()));
  EXPECT_THAT(box.readable, Not(Contains(HasSubstr(".ssh"))));
  EXPECT_THAT(box.readable, Not(Contains(HasSubstr("link"))));
  EXPECT_THAT(hint_of_closed_paths(request_), HasSubstr("copy it beside the program"));
}

TEST_F(LaunchPathsTest, FollowNoLinkOfDataOutOfTheFolder) {
  ASSERT_TRUE(write_file_atomically(home_ / "from/own.ptd", "x"));
  ASSERT_TRUE(write_file_atomically(home_ / ".cache/blob", "x"));
  std::filesystem::create_symlink("own.ptd", home_ / "from/near.ptd");
  std::filesystem::create_symlink(home_ / ".cache/blob", home_ / "from/cached.ptd");
  std::filesystem::create_symlink(home_ / "models/a.tflite", home_ / "from/far.ptd");
  for (const auto* file : {"own.ptd", "near.ptd", "cached.ptd", "far.ptd"}) {
    request_.artifact.files.push_back({.name = file, .role = "data"});
  }
  const auto paths = paths_of_launch(request_);
  const auto path_of = [this](const char* file) { return (home_ / "from" / file).string(); };
  EXPECT_THAT(paths.readable,
              IsSupersetOf({path_of("own.ptd"), path_of("near.ptd"), path_of("cached.ptd")}));
  EXPECT_THAT(paths.closed, ElementsAre(path_of("far.ptd")));
}

TEST_F(LaunchPathsTest, FollowLinksBesideTheProgramsOwnFile) {
  ASSERT_TRUE(write_file_atomically(home_ / "blobs/1", "x"));
  ASSERT_TRUE(write_file_atomically(home_ / "blobs/2", "x"));
  std::filesystem::create_symlink(home_ / "blobs/1", home_ / "from/net.onnx");
  std::filesystem::create_symlink(home_ / "blobs/2", home_ / "from/net.onnx_data");
  request_.artifact.entry = "net.onnx";
  request_.artifact.files = {{.name = "net.onnx_data", .role = "data"}};
  EXPECT_THAT(paths_of_launch(request_).closed, IsEmpty());
}

TEST_F(LaunchPathsTest, SayNothingWithoutASandbox) {
  name({{"a", key_.string()}});
  request_.sandbox = SandboxMode::kOff;
  EXPECT_EQ(hint_of_closed_paths(request_), "");
}

}  // namespace
}  // namespace assay
