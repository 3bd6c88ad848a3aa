#include "features/exchange/fai_pep/composition.h"

#include "features/exchange/fai_pep/locations.h"
#include "features/exchange/fai_pep/specification.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/test_entry.h"
#include "features/exchange/fai_pep/testing/specification_files.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::fai_pep {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StandIns usual_stand_ins() {
  return {.programs = {{"program", "/opt/bench"}},
          .files = {},
          .root = "/models",
          .mirrors = {{.prefix = "https://models.example/", .folder = "/mirror"}}};
}

/// All commands of all tests of a file, with the paths of `stand_ins`.
std::vector<Argv> commands_of(const SpecificationFiles& files, const std::string& name,
                              const StandIns& stand_ins = usual_stand_ins()) {
  std::vector<Argv> commands;
  const auto entries = read_specification(files.path(name)).value();
  for (const auto& entry : entries) {
    const auto composition = composed(entry, stand_ins).value();
    for (const auto& step : composition.steps) {
      commands.push_back(shown_argv(step, composition));
    }
  }
  return commands;
}

TEST(Composition, OfATfliteFileHasItsArguments) {
  const SpecificationFiles files;
  EXPECT_THAT(commands_of(files, "small_tflite.json"),
              ElementsAre(Argv{"/opt/bench", "--graph=/mirror/small.tflite", "--warmup_runs=1",
                               "--num_runs=50", "--input_layer_shape=1,8,8,3", "--num_threads=2"},
                          Argv{"/opt/bench", "--graph=/mirror/small.tflite"}));
}

TEST(Composition, OfACaffe2FileRepeatsItsTestBetweenThePartsOfTheModel) {
  const SpecificationFiles files;
  const auto init = files.path("i.pb").string();
  const auto main = [](const std::string& index) {
    return Argv{
        "/opt/bench", "--net", "/models/pair/p.pb", "--input_file", "<host>/x_" + index + ".pb",
        "--iter",     "1"};
  };
  const auto before = [](const std::string& index) {
    return Argv{"awk", "(NR>" + index + "*6/2) {print > \"<host>/in/" + index + "\"}", "all"};
  };
  const Argv prepare = {"mkdir", "-p", "<host>/in"};
  const Argv sum = {"sum", "--dir", "<host>", "--limit", "2"};
  const auto shapes = [&init](const std::string& dims) {
    return Argv{
        "/opt/bench", "--net", "/models/pair/p.pb", "--warmup", "2",       "--iter", "5",
        "--init_net", init,    "--input_dims",      dims,       "--input", "data",   "--input_type",
        "float"};
  };
  EXPECT_THAT(commands_of(files, "pair_caffe2.json"),
              ElementsAre(prepare, before("0"), main("0"), before("1"), main("1"), sum,  //
                          prepare, shapes("1,3"), shapes("1,3"), sum,                    //
                          prepare, shapes("2,3"), shapes("2,3"), sum));
}

TEST(Composition, OfASequenceAppendsItsArgumentsToEveryProgram) {
  const SpecificationFiles files;
  const auto commands = commands_of(files, "both.json");
  EXPECT_THAT(commands.front(), Contains("--extra"));
  EXPECT_THAT(commands.at(1),
              ElementsAre("/opt/bench", "--graph=/mirror/small.tflite", "--extra", "1"));
  EXPECT_THAT(commands.at(2), ElementsAre("mkdir", "-p", "<host>/in"));
}

TEST(Composition, TakesStandInsBeforeTheCacheAndTheCacheBeforeLocations) {
  const SpecificationFiles files;
  auto stand_ins = usual_stand_ins();
  stand_ins.model_cache = "/cache";
  EXPECT_THAT(commands_of(files, "small_tflite.json", stand_ins).back(),
              Contains("--graph=/cache/tflite/small/small.tflite"));
  stand_ins.files["graph"] = "/other.tflite";
  EXPECT_THAT(commands_of(files, "small_tflite.json", stand_ins).back(),
              Contains("--graph=/other.tflite"));
}

TEST(Composition, TakesAMirrorForWholeNamesOnly) {
  const SpecificationFiles files;
  auto stand_ins = usual_stand_ins();
  stand_ins.mirrors = {{.prefix = "https://models.exam", .folder = "/other"},
                       {.prefix = "https://models.example", .folder = "/mirror"}};
  EXPECT_THAT(commands_of(files, "small_tflite.json", stand_ins).back(),
              Contains("--graph=/mirror/small.tflite"));
}

TEST(Composition, TakesTheLongestMirror) {
  const SpecificationFiles files;
  auto stand_ins = usual_stand_ins();
  stand_ins.mirrors = {{.prefix = "https://models.example", .folder = "/all"},
                       {.prefix = "https://models.example/small.tflite", .folder = "/one.tflite"},
                       {.prefix = "https:/", .folder = "/web"}};
  EXPECT_THAT(commands_of(files, "small_tflite.json", stand_ins).back(),
              Contains(testing::StartsWith("--graph=/one.tflite")));
}

TEST(Composition, TakesNoFolderForAnAddress) {
  TestEntry entry;
  entry.file = "/specs/net.json";
  const auto place = locate("graph", {{"location", "http_models/net.tflite"}}, entry, {});
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->path, "/specs/http_models/net.tflite");
}

TEST(Composition, NamesTheFlagOfWhatIsNotKnown) {
  const SpecificationFiles files;
  const auto entries = read_specification(files.path("both.json")).value();
  const auto tflite = composed(entries[0], {}).value();
  EXPECT_THAT(tflite.missing, ElementsAre(HasSubstr("--program program=PATH"),
                                          HasSubstr("--mirror PREFIX=FOLDER")));
  const auto caffe2 = composed(entries[2], {}).value();
  EXPECT_THAT(caffe2.missing, Contains(HasSubstr("--root FOLDER")));
}

TEST(Composition, KeepsPathsOutOfTheArguments) {
  const SpecificationFiles files;
  const auto entries = read_specification(files.path("pair_caffe2.json")).value();
  const auto composition = composed(entries[0], usual_stand_ins()).value();
  EXPECT_THAT(composition.steps.at(2),
              ElementsAre("{place:program}", "--net", "{place:files.predict}", "--input_file",
                          "{scratch:host}/x_0.pb", "--iter", "1"));
  EXPECT_THAT(composition.steps.at(1).at(1), HasSubstr("{{print > \"{scratch:host}/in/0\"}"));
  EXPECT_EQ(composition.host_commands, 4);
  EXPECT_EQ(composition.places.at("files.predict").md5, "00");
  EXPECT_TRUE(composition.places.at("program").is_stand_in);
}

TEST(Composition, NamesThePathOfAnUnknownPlaceholder) {
  const SpecificationFiles files;
  auto document = SpecificationFiles::tflite();
  document["tests"][0]["commands"] = {"{program} {MODEL_DIR}/x"};
  files.write("unknown.json", document);
  const auto entries = read_specification(files.path("unknown.json")).value();
  const auto refused = composed(entries[0], usual_stand_ins());
  EXPECT_THAT(refused.error().message,
              HasSubstr("tests[0].commands[0]: nothing is known of {MODEL_DIR}"));
  auto stand_ins = usual_stand_ins();
  stand_ins.values["MODEL_DIR"] = "/data";
  const auto composition = composed(entries[0], stand_ins).value();
  EXPECT_THAT(shown_argv(composition.steps.at(0), composition),
              ElementsAre("/opt/bench", "/data/x"));
  EXPECT_THAT(composition.missing, IsEmpty());
}

}  // namespace
}  // namespace assay::fai_pep
