#include "features/exchange/fai_pep/import.h"

#include "features/exchange/fai_pep/composition.h"
#include "features/exchange/fai_pep/program_document.h"
#include "features/exchange/fai_pep/specification.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/testing/specification_files.h"

#include <cstddef>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class Import : public testing::Test {
 protected:
  Import() {
    stand_ins_.programs["program"] = "/bin/true";
    stand_ins_.files["graph"] = files_.path("small_tflite.json");  // Any file.
  }

  Json program_at(const Json& spec, std::size_t model) {
    return read_json_file(spec["models"][model].get<std::string>()).value();
  }

  SpecificationFiles files_;
  StandIns stand_ins_;
};

TEST_F(Import, MakesACommandProgramOfEachTest) {
  const auto folder = files_.path("out");
  const auto spec =
      import_specification(files_.path("small_tflite.json"), stand_ins_, folder).value();
  ASSERT_THAT(spec["models"], SizeIs(2));
  const auto program = program_at(spec, 0);
  EXPECT_EQ(program["steps"][0][1], "--graph={place:files.graph}");
  EXPECT_EQ(program["pause_s"], 30);
  EXPECT_EQ(program["timeout_s"], 300);
  EXPECT_EQ(program["env"], (Json{{"MKL_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"}}));
  EXPECT_EQ(program["about"]["identifier"], "small-0");
  EXPECT_TRUE(program["metrics"].contains("net_latency"));
  EXPECT_EQ(program["places"]["files.graph"], Json::object()) << "a stand-in has no md5";
  EXPECT_THAT(program_at(spec, 1)["unsupported"].get<std::string>(), HasSubstr("meter"));
  const auto places = read_json_file(folder / "tflite/small/small-0.command.places.json").value();
  EXPECT_EQ(places["program"], "/bin/true");
}

TEST_F(Import, BindsEachTestToItsProcessors) {
  const auto spec =
      import_specification(files_.path("small_tflite.json"), stand_ins_, files_.path("out"))
          .value();
  EXPECT_EQ(spec["scenario"]["cores"], (Json{"0-1", "any"}));
  EXPECT_EQ(spec["exclude"][0],
            (Json{{"model", spec["models"][0]}, {"scenario", {{"cores", {"any"}}}}}));
  stand_ins_.processors = 1;
  const auto here =
      import_specification(files_.path("small_tflite.json"), stand_ins_, files_.path("out"))
          .value();
  EXPECT_THAT(program_at(here, 0)["unsupported"].get<std::string>(),
              HasSubstr("bound to the processors 0-1, and there are 0 to 0 here"));
}

TEST_F(Import, NeverWritesToTheFile) {
  const auto file = files_.path("small_tflite.json");
  const auto before = read_file(file).value();
  ASSERT_TRUE(import_specification(file, stand_ins_, files_.path("out")));
  EXPECT_EQ(read_file(file).value(), before);
}

TEST_F(Import, NamesTheFlagOfAFileThatIsAbsent) {
  stand_ins_.files.clear();
  stand_ins_.mirrors = {{.prefix = "https://models.example/", .folder = "/none"}};
  const auto spec =
      import_specification(files_.path("small_tflite.json"), stand_ins_, files_.path("out"));
  EXPECT_EQ(spec.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(spec.error().message, HasSubstr("--file files.graph=PATH"));
}

TEST_F(Import, RunsCommandsOfTheHostOnlyWhereTheyAreAllowed) {
  const auto entry = read_specification(files_.path("pair_caffe2.json")).value().at(0);
  const auto composition = composed(entry, stand_ins_).value();
  EXPECT_THAT(reason_against(entry, composition, stand_ins_), HasSubstr("--allow-commands"));
  stand_ins_.allows_commands = true;
  EXPECT_EQ(reason_against(entry, composition, stand_ins_), "");
  const auto program = program_from_test(entry, composition, stand_ins_);
  EXPECT_EQ(program["observer"], "Caffe2Observer");
  EXPECT_EQ(program["places"]["files.predict"], (Json{{"md5", "00"}}));
}

TEST_F(Import, TakesVariablesAndOutputFilesOfATest) {
  auto document = SpecificationFiles::caffe2();
  document["model"].erase("preprocess");
  document["model"]["converter"] = {{"name", "json_with_identifier_converter"},
                                    {"args", {{"identifier", "MyObserver "}}}};
  document["tests"][1]["env"] = {{"A", 5}};
  document["tests"][1]["output_files"] = {
      {"y", {{"filename", "y"}, {"location", "{TGTDIR}/y"}, {"converter", {{"name", "x"}}}}}};
  files_.write("env.json", document);
  const auto entry = read_specification(files_.path("env.json")).value().at(1);
  const auto program = program_from_test(entry, composed(entry, stand_ins_).value(), stand_ins_);
  EXPECT_EQ(program["env"], (Json{{"A", "5"}, {"MKL_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "4"}}));
  EXPECT_EQ(program["observer"], "MyObserver");
  EXPECT_EQ(program["read_files"], (Json{"{scratch:target}/y"}));
}

TEST_F(Import, RunsGraphsOnLitert) {
  const auto spec = import_for_litert(files_.path("small_tflite.json"), stand_ins_).value().spec;
  EXPECT_EQ(spec["models"], (Json{files_.path("small_tflite.json").string()}));
  EXPECT_EQ(spec["engines"], (Json{"litert"}));
  EXPECT_EQ(spec["options"]["threads"], (Json{2})) << "the test of power does not run";
  EXPECT_EQ(spec["scenario"]["cores"], (Json{"0-1"}));
  EXPECT_EQ(spec["measure"]["iterations"], 50);
  stand_ins_.programs.clear();
  EXPECT_TRUE(import_for_litert(files_.path("small_tflite.json"), stand_ins_)) << "needs none";
  stand_ins_.files["graph"] = "/none";
  EXPECT_EQ(import_for_litert(files_.path("small_tflite.json"), stand_ins_).error().code,
            ErrorCode::kNotFound);
  stand_ins_.files.clear();
  stand_ins_.mirrors = {{.prefix = "https://models.example/", .folder = files_.path(".")}};
  ASSERT_TRUE(write_file_atomically(files_.path("small.tflite"), "abc"));
  EXPECT_TRUE(import_for_litert(files_.path("small_tflite.json"), stand_ins_));
  ASSERT_TRUE(write_file_atomically(files_.path("small.tflite"), "abd"));
  EXPECT_EQ(import_for_litert(files_.path("small_tflite.json"), stand_ins_).error().code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(import_for_litert(files_.path("pair_caffe2.json"), stand_ins_).error().code,
            ErrorCode::kUnsupported);
}

TEST_F(Import, MeasuresOnLitertWhatTheTestsAskFor) {
  auto document = SpecificationFiles::tflite();
  auto& tests = document["tests"];
  tests.push_back(tests[0]);
  tests[2]["commands"] = {"{program} --graph={files.graph} --num_threads=4"};
  tests[2].erase("platform_args");
  files_.write("three.json", document);
  const auto imported = import_for_litert(files_.path("three.json"), stand_ins_).value();
  EXPECT_THAT(imported.left_out, ElementsAre(HasSubstr("power is not measured")));
  const auto graph = imported.spec["models"][0];
  EXPECT_EQ(
      imported.spec["exclude"],
      (Json{{{"model", graph}, {"options", {{"threads", 2}}}, {"scenario", {{"cores", "any"}}}},
            {{"model", graph}, {"options", {{"threads", 4}}}, {"scenario", {{"cores", "0-1"}}}}}));
  tests[2]["iter"] = 10;
  files_.write("differ.json", document);
  EXPECT_THAT(import_for_litert(files_.path("differ.json"), stand_ins_).error().message,
              HasSubstr("the tests differ in iter (10, 50)"));
}

TEST_F(Import, RefusesAMaskThatItCannotRead) {
  auto document = SpecificationFiles::tflite();
  document["tests"][0]["platform_args"]["taskset"] = "fg";
  files_.write("mask.json", document);
  const auto tests = list_tests(files_.path("mask.json"), stand_ins_).value();
  EXPECT_THAT(tests[0].unavailable, HasSubstr("taskset fg, which is no mask"));
}

TEST(Cores, AreThoseOfTheMaskOrTheList) {
  const auto cores = [](const Json& keys) {
    return cores_of({.file = {}, .model = Json::object(), .test = keys});
  };
  EXPECT_EQ(cores({{"platform_args", {{"taskset", "f0"}}}}), "4-7");
  EXPECT_EQ(cores({{"platform_args", {{"taskset", "85"}}}}), "0,2,7");
  EXPECT_EQ(cores({{"platform_args", {{"taskset", "80"}}}, {"cpu-list", 2}}), "2");
  EXPECT_EQ(cores({{"platform_args", {{"taskset", "f0000000000000000"}}}}), "64-67");
  EXPECT_EQ(cores({{"platform_args", {{"taskset", "0X3,00000000"}}}}), "32-33");
  EXPECT_FALSE(cores({{"cpu-list", 0}}));
  EXPECT_FALSE(cores({{"platform_args", {{"taskset", "x"}}}}));
  EXPECT_FALSE(cores(Json::object()));
}

}  // namespace
}  // namespace assay::fai_pep
