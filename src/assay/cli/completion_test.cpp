#include "assay/cli/completion.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/cli/help_layout.h"
#include "assay/cli/verb.h"

namespace assay::cli {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// The command line as main() declares it.
class Completed : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& verb : all_verbs()) {
      auto* sub = app_.add_subcommand(verb.name, verb.help)->group(verb.group);
      verb.declare(*sub);
      lay_out_help(*sub, verb.example);
    }
  }

  Completion completion_of(const std::vector<std::string>& words) { return complete(app_, words); }

  std::vector<std::string> words_of(const std::vector<std::string>& words) {
    std::vector<std::string> texts;
    for (const auto& word : completion_of(words).words) {
      texts.push_back(word.text);
    }
    return texts;
  }

 private:
  CLI::App app_{"", "assay"};
};

TEST_F(Completed, AreVerbsByTheirBeginning) {
  EXPECT_THAT(words_of({"me"}), ElementsAre("merge"));
  EXPECT_THAT(words_of({"engine", ""}),
              ElementsAre("add", "build", "check", "gc", "list", "remove"));
  EXPECT_THAT(words_of({""}), Contains("completion"));
  EXPECT_THAT(words_of({""}), Not(Contains("complete"))) << "it is for scripts";
}

TEST_F(Completed, AreTheFlagsOfTheInnermostVerb) {
  EXPECT_THAT(words_of({"bench", "net.py:make", "--lab"}), ElementsAre("--label"));
  EXPECT_THAT(words_of({"engine", "add", "--pre"}), ElementsAre("--prefix"));
  EXPECT_THAT(words_of({"merge", "--pre"}), IsEmpty());
}

TEST_F(Completed, AreTheValuesOfTheFlagBefore) {
  EXPECT_THAT(words_of({"conform", "--tier", ""}), ElementsAre("quick", "full", "fuzz"));
  EXPECT_THAT(words_of({"bench", "--recipe", "executorch/xnnpack-fp3"}),
              ElementsAre("executorch/xnnpack-fp32"));
  EXPECT_THAT(words_of({"bench", "--engine", "openv"}), ElementsAre("openvino"));
  EXPECT_THAT(words_of({"init", "--unset", "thr"}), ElementsAre("threads"));
  EXPECT_THAT(words_of({"conform", "--tier", "full", "--expand=p"}),
              ElementsAre("--expand=pairwise"));
}

TEST_F(Completed, KeepTheItemsOfAListThatAreThere) {
  EXPECT_THAT(words_of({"bench", "--engine", "openvino,onnx"}),
              ElementsAre("openvino,onnxruntime"));
}

TEST_F(Completed, LeaveOutWhatTheVerbRefuses) {
  EXPECT_THAT(words_of({"bench", "--format", "j"}), ElementsAre("json", "jsonl", "junit"));
  EXPECT_THAT(words_of({"profile", "--format", "j"}), ElementsAre("json"));
}

TEST_F(Completed, AreNamesOfFilesOnlyWhereAFileMayStand) {
  EXPECT_TRUE(completion_of({"inspect", ""}).has_files);
  EXPECT_TRUE(completion_of({"bench", "--store", ""}).has_files);
  EXPECT_FALSE(completion_of({"bench", "--seed", ""}).has_files);
  EXPECT_FALSE(completion_of({"list", ""}).has_files);
  EXPECT_THAT(words_of({"list", ""}), Contains("recipes"));
}

TEST_F(Completed, AreModelsAndFilesForAModel) {
  const auto completion = completion_of({"bench", "torchvision:mobilenet_v"});
  EXPECT_TRUE(completion.has_files);
  EXPECT_THAT(words_of({"bench", "torchvision:mobilenet_v"}),
              Each(StartsWith("torchvision:mobilenet_v")));
  EXPECT_THAT(words_of({"bench", "torchvision:mobilenet_v"}), Contains("torchvision:mobilenet_v2"));
}

TEST_F(Completed, AreVerbsBesideTheFirstArgument) {
  EXPECT_THAT(words_of({"runs", "p"}), ElementsAre("prune"));
  EXPECT_FALSE(completion_of({"runs", ""}).has_files);
  EXPECT_THAT(words_of({"runs", "resnet18", "p"}), IsEmpty());
}

TEST_F(Completed, AreTheNamesOfWhatIsSetBoundOrShown) {
  EXPECT_THAT(words_of({"bench", "--scenario", "ga"}), ElementsAre("gap="));
  EXPECT_THAT(words_of({"bench", "--require", "steady_n"}), ElementsAre("steady_ns"));
  EXPECT_THAT(words_of({"compare", "--metric", "steady_f"}), ElementsAre("steady_floor_ns"));
  EXPECT_THAT(words_of({"init", "--set", "thr"}), ElementsAre("threads="));
  EXPECT_THAT(words_of({"bench", "--device", "loc"}), ElementsAre("local"));
}

TEST_F(Completed, AreTheFactoriesOfAFile) {
  const auto net = testing::TempDir() + "completed.py";
  std::ofstream(net) << "class Net:\n  pass\ndef make():\n  pass\n";
  const auto completion = completion_of({"bench", net + ":"});
  EXPECT_FALSE(completion.has_files);
  EXPECT_THAT(words_of({"bench", net + ":"}), ElementsAre(net + ":make", net + ":Net"));
  EXPECT_THAT(words_of({"compare", net + ":make", net + ":N"}), ElementsAre(net + ":Net"));
}

}  // namespace
}  // namespace assay::cli
