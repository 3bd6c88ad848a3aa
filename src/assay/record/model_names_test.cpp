#include "assay/record/model_names.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(ModelNames, AreShortWhereNothingElseIsCalledSo) {
  EXPECT_THAT(
      telling_names(
          std::vector<std::string>{"/m/net.pte", "torchvision:resnet18", "/m/make.py:kws"}),
      UnorderedElementsAre(Pair("/m/net.pte", "net"), Pair("torchvision:resnet18", "resnet18"),
                           Pair("/m/make.py:kws", "make:kws")));
}

TEST(ModelNames, TakeAsManyFoldersAsTellThemApart) {
  EXPECT_THAT(
      telling_names(std::vector<std::string>{"/w/a_fp32/program.pte", "/w/a_int8/program.pte"}),
      UnorderedElementsAre(Pair("/w/a_fp32/program.pte", "a_fp32/program"),
                           Pair("/w/a_int8/program.pte", "a_int8/program")));
  EXPECT_THAT(telling_names(std::vector<std::string>{"/a/1/net.pte", "/b/1/net.pte", "/b/2/x.pte"}),
              UnorderedElementsAre(Pair("/a/1/net.pte", "a/1/net"), Pair("/b/1/net.pte", "b/1/net"),
                                   Pair("/b/2/x.pte", "x")));
}

TEST(ModelNames, OfFilesWithAGenericNameHaveTheirFolder) {
  EXPECT_THAT(telling_names(std::vector<std::string>{"/w/a_fp32/program.pte"}),
              ElementsAre(Pair("/w/a_fp32/program.pte", "a_fp32/program")));
  EXPECT_THAT(telling_names(std::vector<std::string>{"/zoo/kws/model.onnx"}),
              ElementsAre(Pair("/zoo/kws/model.onnx", "kws/model")));
  EXPECT_THAT(telling_names(std::vector<std::string>{"zoo:model"}),
              ElementsAre(Pair("zoo:model", "model")));
  EXPECT_THAT(telling_names(std::vector<std::string>{"/w/mobilenet/0.command.json"}),
              ElementsAre(Pair("/w/mobilenet/0.command.json", "mobilenet/0.command")));
  EXPECT_THAT(telling_names(std::vector<std::string>{"program.pte"}),
              ElementsAre(Pair("program.pte", "program")));
}

TEST(ModelNames, KeepTheEndingWhereItTells) {
  EXPECT_THAT(
      telling_names(std::vector<std::string>{"/m/net.onnx", "/m/net.tflite"}),
      UnorderedElementsAre(Pair("/m/net.onnx", "net.onnx"), Pair("/m/net.tflite", "net.tflite")));
}

TEST(ModelNames, AreTheWholeReferenceWhereNothingShorterTells) {
  EXPECT_THAT(telling_names(std::vector<std::string>{"torchvision:resnet18", "timm:resnet18"}),
              ElementsAre(Pair("timm:resnet18", "timm:resnet18"),
                          Pair("torchvision:resnet18", "torchvision:resnet18")));
  EXPECT_THAT(telling_names(std::vector<std::string>{"net/m.pte", "a/net/m.pte"}),
              UnorderedElementsAre(Pair("net/m.pte", testing::_),
                                   Pair("a/net/m.pte", EndsWith("a/net/m"))));
}

TEST(ModelNames, OfThreeHundredFoldersAreThreeHundred) {
  std::vector<std::string> refs;
  for (int i = 0; i < 300; ++i) {
    refs.push_back("/zoo/" + std::to_string(i) + "/model.onnx");
  }
  std::set<std::string> names;
  for (const auto& [ref, name] : telling_names(refs)) {
    names.insert(name);
    EXPECT_LE(name.size(), std::string("299/model").size());
  }
  EXPECT_EQ(names.size(), 300U);
}

TEST(ModelNames, NeverJoinTwoReferences) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same each time.
  const std::vector<std::string> parts = {"a", "b", "net", "net.pte", "net.onnx", "b.py:net", ""};
  const auto pick = [&] { return parts[random() % parts.size()]; };
  for (int trial = 0; trial < 2000; ++trial) {
    std::set<std::string> refs;
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) {
      std::string ref = random() % 2 == 0 ? "/" : "";
      for (std::size_t folder = random() % 4; folder > 0; --folder) {
        ref += pick() + "/";
      }
      refs.insert(ref + (random() % 8 == 0 ? "zoo:net" : "net" + pick()));
    }
    const std::vector<std::string> list(refs.begin(), refs.end());
    const auto names = telling_names(list);
    std::set<std::string> seen;
    for (const auto& ref : list) {
      EXPECT_TRUE(seen.insert(names.at(ref)).second) << ref << " is '" << names.at(ref) << "'";
      EXPECT_FALSE(names.at(ref).empty());
    }
  }
}

}  // namespace
}  // namespace assay
