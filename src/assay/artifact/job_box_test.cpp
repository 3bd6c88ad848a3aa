#include "assay/artifact/job_box.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <string>

#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

class BoxOfJob : public testing::Test {
 protected:
  std::string make(const std::string& name) {
    const auto path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(path, "x"));
    return path.string();
  }

  static std::string home_variable() {
    const char* const home = ::getenv("HOME");
    return home == nullptr ? "" : home;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-job-box").value();
  Toolchain toolchain_{.python = "/v/bin/python", .id = "t", .packages = {}, .reads = {"/v"}};
};

TEST_F(BoxOfJob, IsThereForWhatComesFromElsewhere) {
  for (const auto* name : {"a/net.pt2", "a/net.pte", "a/net.onnx", "a/net.tflite"}) {
    const Json request{{"job", "build"}, {"model", {{"ref", make(name)}}}};
    EXPECT_EQ(box_of_job(request, toolchain_, {}).mode, SandboxMode::kOn) << name;
  }
}

TEST_F(BoxOfJob, IsNotThereForPythonThatTheUserNames) {
  const auto net = make("a/net.py") + ":make";
  const auto exported = make("a/net.pt2");
  const auto samples = make("b/data.py") + ":samples";
  const Json library{{"model", {{"ref", "torchvision:resnet18"}}}};
  EXPECT_EQ(box_of_job(library, toolchain_, {}).mode, SandboxMode::kOff);
  EXPECT_EQ(box_of_job({{"model", {{"ref", net}}}}, toolchain_, {}).mode, SandboxMode::kOff);
  EXPECT_EQ(box_of_job({{"model", {{"ref", exported}}}, {"calibration", {{"file", samples}}}},
                       toolchain_, {})
                .mode,
            SandboxMode::kOff);
}

TEST_F(BoxOfJob, IsWhatTheUserAsksFor) {
  const Json request{{"model", {{"ref", make("a/net.pt2")}}}};
  const Json library{{"model", {{"ref", "torchvision:resnet18"}}}};
  EXPECT_EQ(box_of_job(request, toolchain_, SandboxMode::kOff).mode, SandboxMode::kOff);
  EXPECT_EQ(box_of_job(library, toolchain_, SandboxMode::kRequired).mode, SandboxMode::kRequired);
}

TEST_F(BoxOfJob, OpensWhatTheRequestNamesAndNothingElse) {
  const auto net = make("a/net.py");
  const auto weights = make("w/net.safetensors");
  const auto samples = make("b/samples.npz");
  const auto parent = [](const std::string& path) {
    return std::filesystem::path(path).parent_path().string();
  };
  const Json request{{"job", "reference"},
                     {"model", {{"ref", net + ":make"}, {"args", {{"weights", {weights}}}}}},
                     {"inputs", {{"file", samples}, {"expected", "/no/such/file"}}}};
  const auto box = box_of_job(request, toolchain_, SandboxMode::kOn);
  EXPECT_THAT(box.readable, UnorderedElementsAre("/v", "/v/bin/python", net, parent(net), weights,
                                                 parent(weights), samples, parent(samples)));
  EXPECT_THAT(box.writable, IsEmpty());
}

TEST_F(BoxOfJob, OpensTheFolderOfTheResultForWriting) {
  const auto net = make("a/net.pt2");
  const auto out = folder_.path() / "out";
  std::filesystem::create_directories(out);
  const Json request{{"job", "inspect"}, {"file", net}, {"out_dir", out.string()}};
  const auto box = box_of_job(request, toolchain_, {});
  EXPECT_THAT(box.writable, UnorderedElementsAre(out.string()));
  EXPECT_THAT(box.readable, Not(Contains(out.string())));
}

TEST_F(BoxOfJob, OpensWhatAProgramRefersTo) {
  const auto program = make("a/net.xml");
  const auto data = make("a/net.bin");
  const Json request{{"job", "inspect"}, {"file", program}};
  // They bring their folder, however many parts there are.
  EXPECT_THAT(box_of_job(request, toolchain_, {}).readable,
              AllOf(IsSupersetOf({program, (folder_.path() / "a").string()}), Not(Contains(data))));
  const auto former = home_variable();
  ::setenv("HOME", (folder_.path() / "a").c_str(), 1);
  const auto box = box_of_job(request, toolchain_, {});
  ::setenv("HOME", former.c_str(), 1);
  EXPECT_THAT(box.readable, IsSupersetOf({program, data}));
}

TEST_F(BoxOfJob, FollowsLinksOfAProgramToItsOwnFilesAlone) {
  const auto blob = make("blobs/1");
  const auto data = make("blobs/2");
  const auto key = make("user/key");
  const auto program = folder_.path() / "a/net.xml";
  std::filesystem::create_directories(program.parent_path());
  std::filesystem::create_symlink(blob, program);
  const auto link = folder_.path() / "a/net.bin";
  const Json request{{"job", "inspect"}, {"file", program.string()}};
  std::filesystem::create_symlink(data, link);
  EXPECT_THAT(box_of_job(request, toolchain_, {}).readable, Contains(link.string()));
  std::filesystem::remove(link);
  std::filesystem::create_symlink(key, link);
  EXPECT_THAT(box_of_job(request, toolchain_, {}).readable, Not(Contains(link.string())));
}

}  // namespace
}  // namespace assay
