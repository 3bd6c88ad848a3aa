#include "features/exchange/fai_pep/specification.h"

#include "features/exchange/fai_pep/testing/specification_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(Specification, ListsTheTestsOfASequenceInOrder) {
  const SpecificationFiles files;
  const auto tests = read_specification(files.path("both.json")).value();
  ASSERT_THAT(tests, SizeIs(5));
  EXPECT_EQ(tests[0].identifier(), "small-0");
  EXPECT_EQ(tests[1].identifier(), "small-power");
  EXPECT_EQ(tests[2].identifier(), "0");
  EXPECT_EQ(tests[3].identifier(), "shapes-1");
  EXPECT_EQ(tests[4].identifier(), "shapes-2");
  EXPECT_EQ(tests[4].test["inputs"]["data"]["shapes"], (Json{{2, 3}}));
  EXPECT_EQ(tests[2].test["commands"][0],
            "{program} --net {files.predict} --input_file {input_files.x} --iter {iter}");
}

TEST(Specification, MergesTheMetaOfASequenceWithoutOverriding) {
  const SpecificationFiles files;
  auto meta =
      Json{{"meta", {{"name", "other"}, {"size", 7}}}, {"benchmarks", {"small_tflite.json"}}};
  files.write("meta.json", meta);
  const auto tests = read_specification(files.path("meta.json")).value();
  EXPECT_EQ(tests[0].name(), "small");
  EXPECT_EQ(tests[0].model["size"], 7);
}

TEST(Specification, TakesTheLastOfAKeyThatIsThereTwice) {
  const SpecificationFiles files;
  auto text = SpecificationFiles::tflite().dump();
  text.insert(text.find("\"identifier\""), "\"iter\": 7, ");
  ASSERT_TRUE(write_file_atomically(files.path("twice.json"), text));
  EXPECT_EQ(read_specification(files.path("twice.json"))->front().test["iter"], 50);
}

TEST(Specification, KeepsATestWhoseCommandsAreOptionsOfAFramework) {
  const SpecificationFiles files;
  auto document = SpecificationFiles::tflite();
  document["tests"][0]["commands"] = {{"tflite", {{"num_threads", "4"}}}};
  files.write("options.json", document);
  const auto tests = read_specification(files.path("options.json")).value();
  EXPECT_THAT(tests, SizeIs(2));
  EXPECT_FALSE(tests[0].test.contains("commands"));
}

TEST(Specification, IsToldFromASpec) {
  EXPECT_TRUE(is_specification({{"tests", Json::array()}}));
  EXPECT_TRUE(is_specification({{"benchmarks", Json::array()}}));
  EXPECT_FALSE(is_specification({{"schema", "assay/spec/1"}, {"tests", 1}}));
  EXPECT_FALSE(is_specification({{"models", 1}}));
}

std::string complaint_about(const Json& document) {
  const SpecificationFiles files;
  files.write("bad.json", document);
  const auto tests = read_specification(files.path("bad.json"));
  EXPECT_FALSE(tests) << document;
  EXPECT_THAT(tests.error().message, HasSubstr("bad.json"));
  return tests.error().message;
}

TEST(Specification, NamesThePathOfWhatIsWrong) {
  auto document = SpecificationFiles::tflite();
  document["tests"][1]["metric"] = "speed";
  EXPECT_THAT(complaint_about(document), HasSubstr("tests[1].metric"));
  document = SpecificationFiles::tflite();
  document["tests"][0].erase("identifier");
  EXPECT_THAT(complaint_about(document), HasSubstr("tests[0]: needs an \"identifier\""));
  document = SpecificationFiles::tflite();
  document["model"].erase("name");
  EXPECT_THAT(complaint_about(document), HasSubstr("model.name"));
  document["model"] = 5;
  EXPECT_THAT(complaint_about(document), HasSubstr("model: must be an object"));
  document = SpecificationFiles::caffe2();
  document["tests"][1]["inputs"]["more"] = {{"shapes", {{1}}}};
  EXPECT_THAT(complaint_about(document), HasSubstr("tests[1].inputs.more.shapes"));
  EXPECT_THAT(complaint_about({{"benchmarks", {5}}}), HasSubstr("benchmarks"));
  for (const auto& [key, value] : std::map<std::string, Json>{{"inputs", {{"", 2}}},
                                                              {"env", 5},
                                                              {"iter", "5"},
                                                              {"platform_args", "f0"},
                                                              {"output_files", Json::array()},
                                                              {"preprocess", {{"commands", {5}}}},
                                                              {"identifier", 5}}) {
    document = SpecificationFiles::tflite();
    document["tests"][0][key] = value;
    EXPECT_THAT(complaint_about(document), HasSubstr("tests[0]")) << key;
  }
  document = SpecificationFiles::caffe2();
  document["model"]["preprocess"] = "x";
  EXPECT_THAT(complaint_about(document), HasSubstr("model.preprocess"));
}

}  // namespace
}  // namespace assay::fai_pep
