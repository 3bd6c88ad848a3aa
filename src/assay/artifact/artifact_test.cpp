#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/artifact_builder.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchain.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/axes.h"
#include "assay/record/boxed_command.h"
#include "assay/record/case.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Case int8_case() {
  Case cell;
  cell.model.ref = "torchvision:mobilenet_v2";
  cell.recipe = {.name = "executorch/xnnpack-int8", .is_preset = true};
  cell.recipe.quantization = {{"flow", "pt2e"}};
  cell.calibration = {.seed = 1000, .count = 8, .role = "calibration"};
  return cell;
}

/// A toolchain whose interpreter is a shell script that speaks the server's protocol.
struct ScriptedToolchain {
  TemporaryFolder folder = TemporaryFolder::make("assay-test").value();
  Toolchain toolchain;

  explicit ScriptedToolchain(const std::string& body) {
    const auto script = folder.path() / "python";
    std::ofstream(script) << "#!/bin/bash\necho '{\"event\":\"ready\"}'\n" << body;
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    toolchain = {.python = script, .id = "t1", .packages = {}};
  }
  [[nodiscard]] ToolchainOf of() const {
    return [this](const Json&) -> Result<Toolchain> { return toolchain; };
  }
  /// Opens the cache as the next process does.
  [[nodiscard]] ArtifactCache cache() const { return ArtifactCache(folder.path() / "cache"); }
};

/// Answers every build with a one-file artifact, and a reference with a failure.
constexpr auto* kHonestServer = R"sh(
while read -r line; do
  id=$(sed 's/.*"id":"\([0-9]*\)".*/\1/' <<<"$line")
  out=$(sed 's/.*"out_dir":"\([^"]*\)".*/\1/' <<<"$line")
  if [[ $line == *'"job":"reference"'* ]]; then
    echo "{\"event\":\"done\",\"id\":\"$id\",\"outcome\":\"crashed\",\"stage\":\"reference\",\"text\":\"SIGSEGV\"}"
    continue
  fi
  echo "{\"event\":\"stage\",\"id\":\"$id\",\"stage\":\"lower\"}"
  printf program >"$out/program.pte"
  sum=$(sha256sum <"$out/program.pte" | cut -d' ' -f1)
  echo "{\"entry\":\"program.pte\",\"files\":[{\"name\":\"program.pte\",\"role\":\"program\",\"bytes\":7,\"sha256\":\"$sum\"}]}" >"$out/manifest.json"
  echo "{\"event\":\"done\",\"id\":\"$id\",\"outcome\":\"completed\",\"stage\":\"serialize\",\"result\":{}}"
done
)sh";

TEST(ArtifactKey, ChangesWithWhateverChangesTheProgram) {
  const auto key = artifact_key(int8_case(), "t1");
  EXPECT_NE(artifact_key(int8_case(), "t2"), key);
  auto other = int8_case();
  other.calibration.seed = 1;
  EXPECT_NE(artifact_key(other, "t1"), key);
  other = int8_case();
  other.recipe.lowering["options"] = {{"per_op_mode", true}};
  EXPECT_NE(artifact_key(other, "t1"), key);
}

TEST(ArtifactKey, IsSharedByCasesThatDifferOnlyWhenRunning) {
  auto other = int8_case();
  other.options = {{"threads", 2}};
  other.inputs.seed = 99;
  EXPECT_EQ(artifact_key(other, "t1"), artifact_key(int8_case(), "t1"));
}

TEST(ReferenceKey, OfFloatIsSharedByAllRecipes) {
  auto other = int8_case();
  other.recipe = {.name = "executorch/portable", .is_preset = true};
  EXPECT_EQ(reference_key(other, "float32", "t1"), reference_key(int8_case(), "float32", "t1"));
  EXPECT_NE(reference_key(other, "qdq", "t1"), reference_key(int8_case(), "qdq", "t1"));
}

TEST(ArtifactKey, OfARecipeThatMayQuantizeHasTheCalibration) {
  auto cell = int8_case();
  cell.recipe.quantization = nullptr;
  cell.recipe.lowering = {{"flow", "executorch_recipe"}, {"recipe", "xnnpack_pt2e_int8_static"}};
  auto other = cell;
  other.calibration.seed = 2000;
  EXPECT_NE(artifact_key(other, "t1"), artifact_key(cell, "t1"));
  other.recipe.lowering = cell.recipe.lowering = {{"flow", "to_edge_transform_and_lower"}};
  EXPECT_EQ(artifact_key(other, "t1"), artifact_key(cell, "t1"));
}

TEST(ReferenceKey, OfTheLoweredProgramIsTheRecipesOwn) {
  const auto key = [](const Case& cell) { return reference_key(cell, "lowered_eager", "t1"); };
  auto other = int8_case();
  other.recipe.quantization = nullptr;
  EXPECT_NE(key(other), key(int8_case()));
  other = int8_case();
  other.recipe.lowering = {{"partitioner", "xnnpack"}};
  EXPECT_NE(key(other), key(int8_case()));
}

TEST(ArtifactBuilder, MakesOnceAndTakesFromTheCacheAfterwards) {
  const ScriptedToolchain scripted(kHonestServer);
  const BuildRequest request{.cases = {int8_case(), int8_case()}, .reference_kinds = {}};
  const auto made = build_artifacts(request, scripted.of(), scripted.cache(), {});
  ASSERT_TRUE(made) << made.error().message;
  const auto& first = *made;
  EXPECT_EQ(first.made, 1);
  const auto second = build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
  EXPECT_EQ(second.made, 0);
  EXPECT_EQ(second.from_cache, 1);
  const auto& artifact = second.artifacts.at(artifact_key(int8_case(), "t1")).artifact;
  ASSERT_TRUE(artifact.has_value());
  EXPECT_EQ(artifact->files.at(0).sha256, sha256_hex("program"));
}

TEST(ArtifactBuilder, GivesEveryJobALimitOfTime) {
  constexpr auto* kEchoOfLimit = R"sh(
while read -r line; do
  limit=$(sed 's/.*"timeout_ns":\([0-9]*\).*/\1/' <<<"$line")
  echo "{\"event\":\"done\",\"id\":\"0\",\"outcome\":\"crashed\",\"stage\":\"lower\",\"text\":\"$limit\"}"
done
)sh";
  const ScriptedToolchain scripted(kEchoOfLimit);
  const auto limit_of = [&scripted](std::int64_t asked) {
    const BuildRequest request{.cases = {int8_case()}, .job_timeout_ns = asked};
    const auto built = build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
    return built.artifacts.at(artifact_key(int8_case(), "t1")).failure.text;
  };
  EXPECT_EQ(limit_of(5), "5");
  EXPECT_EQ(limit_of(0), "1800000000000") << "half an hour";
  ::setenv("ASSAY_BUILD_TIMEOUT", "2s", 1);
  EXPECT_EQ(limit_of(0), "2000000000");
  ::setenv("ASSAY_BUILD_TIMEOUT", "soon", 1);
  EXPECT_EQ(build_timeout_ns().error().code, ErrorCode::kInvalidArgument);
  ::unsetenv("ASSAY_BUILD_TIMEOUT");
}

TEST(ArtifactBuilder, CopiesAnArtifactWithoutWhatAnEarlierOneLeft) {
  const ScriptedToolchain scripted(kHonestServer);
  const BuildRequest request{.cases = {int8_case()}, .reference_kinds = {}};
  const auto built = build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
  const auto out = scripted.folder.path() / "out";
  std::filesystem::create_directories(out);
  for (const auto* name : {"weights.ptd", "edited.ptd", "notes.txt"}) {
    std::ofstream(out / name) << name;
  }
  const auto digest_of = [&out](const char* name) {
    return sha256_hex_of_file(out / name).value();
  };
  const Json earlier = {
      {"schema", "assay/manifest/1"},
      {"files",
       {{{"name", "weights.ptd"}, {"sha256", digest_of("weights.ptd")}},
        {{"name", "edited.ptd"}, {"sha256", digest_of("notes.txt")}},
        {{"name", "../python"}, {"sha256", sha256_hex_of_file(scripted.toolchain.python).value()}},
        3}}};
  std::ofstream(out / "manifest.json") << earlier;
  ASSERT_TRUE(copy_artifact(*built.artifacts.at(artifact_key(int8_case(), "t1")).artifact, out));
  EXPECT_FALSE(std::filesystem::exists(out / "weights.ptd")) << "the earlier program's";
  EXPECT_TRUE(std::filesystem::exists(out / "edited.ptd")) << "no longer what the manifest says";
  EXPECT_TRUE(std::filesystem::exists(out / "notes.txt")) << "nobody's";
  EXPECT_TRUE(std::filesystem::exists(scripted.toolchain.python)) << "not in the folder";
  EXPECT_TRUE(std::filesystem::exists(out / "program.pte"));
}

TEST(ArtifactBuilder, CopiesNothingOverAManifestOfTheUser) {
  const ScriptedToolchain scripted(kHonestServer);
  const BuildRequest request{.cases = {int8_case()}, .reference_kinds = {}};
  const auto built = build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
  const auto out = scripted.folder.path() / "out";
  std::filesystem::create_directories(out);
  std::ofstream(out / "notes.txt") << "notes";
  const std::string own = R"({"files": [{"name": "notes.txt"}]})";
  std::ofstream(out / "manifest.json") << own;
  const auto copied =
      copy_artifact(*built.artifacts.at(artifact_key(int8_case(), "t1")).artifact, out);
  EXPECT_EQ(copied.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::exists(out / "notes.txt"));
  EXPECT_EQ(read_file(out / "manifest.json").value(), own);
}

TEST(ArtifactBuilder, SaysWhetherASecondBuildGaveTheSameBytes) {
  const ScriptedToolchain scripted(kHonestServer);
  BuildRequest request{.cases = {int8_case()}, .reference_kinds = {}};
  ASSERT_TRUE(build_artifacts(request, scripted.of(), scripted.cache(), {}));
  request.is_rebuild = true;
  const auto again = build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
  EXPECT_EQ(again.artifacts.begin()->second.artifact->manifest.at("reproducible"), true);
}

TEST(ArtifactBuilder, WritesAProgramThatWasLoweredOnlyBefore) {
  constexpr auto* kServer = R"sh(
while read -r line; do
  id=$(sed 's/.*"id":"\([0-9]*\)".*/\1/' <<<"$line")
  out=$(sed 's/.*"out_dir":"\([^"]*\)".*/\1/' <<<"$line")
  files= entry=null
  if [[ $line != *'"stop_after":"lower"'* ]]; then
    printf program >"$out/program.pte"
    sum=$(sha256sum <"$out/program.pte" | cut -d' ' -f1)
    entry='"program.pte"'
    files="{\"name\":\"program.pte\",\"role\":\"program\",\"bytes\":7,\"sha256\":\"$sum\"}"
  fi
  echo "{\"entry\":$entry,\"files\":[$files]}" >"$out/manifest.json"
  echo "{\"event\":\"done\",\"id\":\"$id\",\"outcome\":\"completed\",\"stage\":\"serialize\",\"result\":{}}"
done
)sh";
  const ScriptedToolchain scripted(kServer);
  BuildRequest request{.cases = {int8_case()}, .reference_kinds = {}, .is_stop_after_lower = true};
  const auto files_of = [](const BuiltArtifacts& built) {
    return built.artifacts.begin()->second.artifact.value().files.size();
  };
  const auto build = [&] {
    return build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
  };
  EXPECT_EQ(files_of(build()), 0);
  request.is_stop_after_lower = false;
  const auto whole = build();
  EXPECT_EQ(whole.made, 1);
  EXPECT_EQ(files_of(whole), 1);
  EXPECT_FALSE(whole.artifacts.begin()->second.artifact->manifest.contains("reproducible"));
  request.is_stop_after_lower = true;
  EXPECT_EQ(files_of(build()), 1) << "a whole program tells all that a lowered one does";
}

/// Answers builds and references with the content of util.py next to it, and says that it read it.
constexpr auto* kReadingServer = R"sh(
read_file="$(dirname $0)/util.py"
while read -r line; do
  id=$(sed 's/.*"id":"\([0-9]*\)".*/\1/' <<<"$line")
  out=$(sed 's/.*"out_dir":"\([^"]*\)".*/\1/' <<<"$line")
  cp "$read_file" "$out/content"
  sum=$(sha256sum <"$read_file" | cut -d' ' -f1)
  bytes=$(stat -c %s "$read_file")
  files="[{\"name\":\"content\",\"bytes\":$bytes,\"sha256\":\"$sum\"}]"
  echo "{\"entry\":\"content\",\"kind\":\"float32\",\"files\":$files}" |
    tee "$out/manifest.json" >"$out/reference.json"
  echo "{\"schema\":\"assay/dependencies/1\",\"recorded_ns\":0,\"folders\":[],\"installed\":[],\"variables\":[],\"files\":[{\"path\":\"$read_file\",\"bytes\":$bytes,\"sha256\":\"$sum\"}]}" >"$out/dependencies.json"
  echo "{\"event\":\"done\",\"id\":\"$id\",\"outcome\":\"completed\",\"stage\":\"serialize\",\"result\":{}}"
done
)sh";

/// A scripted toolchain that reads util.py.
class BuilderThatReads : public testing::Test {
 protected:
  void SetUp() override { edit("SCALE = 1.0"); }

  void edit(const std::string& content) const {
    ASSERT_TRUE(write_file_atomically(scripted_.folder.path() / "util.py", content).has_value());
  }

  [[nodiscard]] BuiltArtifacts build(bool is_rebuild = false) {
    notes_.clear();
    const BuildListener listener{
        .on_plan = {},
        .on_stage = {},
        .on_done = {},
        .on_note = [this](const std::string& text) { notes_.push_back(text); },
        .should_stop = {}};
    return build_artifacts(
               {.cases = {int8_case()}, .reference_kinds = {"float32"}, .is_rebuild = is_rebuild},
               scripted_.of(), cache_, listener)
        .value();
  }

  static std::string digest_of(const Json& document) {
    return document.at("files").at(0).at("sha256").get<std::string>();
  }

  std::vector<std::string> notes_;
  const ScriptedToolchain scripted_{kReadingServer};
  ArtifactCache cache_ = scripted_.cache();
};

TEST_F(BuilderThatReads, MakesProgramAndReferenceAgainAfterAnEditAndSaysWhy) {
  EXPECT_EQ(build().made, 2);
  EXPECT_EQ(build().from_cache, 2);
  EXPECT_THAT(notes_, testing::IsEmpty());
  edit("SCALE = 3.0");
  const auto built = build();
  EXPECT_EQ(built.made, 2);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("/util.py' changed, so")));
  const auto after = sha256_hex("SCALE = 3.0");
  EXPECT_EQ(digest_of(built.artifacts.begin()->second.artifact.value().manifest), after);
  EXPECT_EQ(digest_of(built.references.begin()->second.reference.value().document), after);
  edit("SCALE = 1.0");
  EXPECT_EQ(build().from_cache, 2) << "what was made before the edit is still there";
}

TEST_F(BuilderThatReads, RebuildsReferencesTooAndAKeyOnceACache) {
  ASSERT_EQ(build().made, 2);
  const auto again = build(/*is_rebuild=*/true);
  EXPECT_EQ(again.made, 2);
  const auto of_another_device = build(/*is_rebuild=*/true);
  EXPECT_EQ(of_another_device.made, 0);
  EXPECT_EQ(of_another_device.from_cache, 2);
  EXPECT_EQ(again.artifacts.begin()->second.artifact->manifest.at("reproducible"), true);
  cache_ = scripted_.cache();
  EXPECT_EQ(build(/*is_rebuild=*/true).made, 2) << "another command rebuilds it again";
}

/// A model file from elsewhere; jobs that read it are in a box.
Case exported_case(const ScriptedToolchain& scripted) {
  auto cell = int8_case();
  cell.model.ref = (scripted.folder.path() / "net.pt2").string();
  EXPECT_TRUE(write_file_atomically(cell.model.ref, "net"));
  return cell;
}

bool has_sandbox() {
  const auto folder = TemporaryFolder::make("assay-box").value();
  const auto command =
      boxed_command({.mode = SandboxMode::kRequired}, folder.path().string(), {"true"});
  const auto output =
      run_command({.argv = command, .stderr_file = "/dev/null"}, std::chrono::minutes(1));
  return output && output->exit_code == 0;
}

TEST(ArtifactBuilder, ABoxOpensNothingOfOtherJobsForWriting) {
  if (!has_sandbox()) {
    GTEST_SKIP() << "this kernel or container lacks Landlock, namespaces or seccomp";
  }
  ScriptedToolchain scripted(fmt::format(R"sh(
root=$(dirname $0)/cache
spoil() {{ echo x >"$root/spoilt"; echo x >"$root/staging/spoilt"; rm "$root/kept/file"; }}
spoil 2>/dev/null
{})sh",
                                         kHonestServer));
  scripted.toolchain.reads = {scripted.folder.path().string()};
  const auto cache = scripted.cache().folder();
  ASSERT_TRUE(write_file_atomically(cache / "kept" / "file", "kept"));
  const auto cell = exported_case(scripted);
  const BuildRequest request{.cases = {cell}, .reference_kinds = {}};
  const auto built = build_artifacts(request, scripted.of(), scripted.cache(), {});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->boxed, 1);
  EXPECT_TRUE(built->artifacts.at(artifact_key(cell, "t1")).artifact.has_value());
  EXPECT_EQ(read_file(cache / "kept" / "file").value_or(""), "kept");
  EXPECT_FALSE(std::filesystem::exists(cache / "spoilt"));
  EXPECT_FALSE(std::filesystem::exists(cache / "staging" / "spoilt"));
}

TEST(ArtifactBuilder, KeepsNothingOfAJobThatLeavesALink) {
  std::string server = kHonestServer;
  const std::string_view written = R"sh(printf program >"$out/program.pte")sh";
  const auto at = server.find(written);
  ASSERT_NE(at, std::string::npos);
  server.insert(at, "ln -s /etc/passwd \"$out/extra\"\n  ");
  const ScriptedToolchain scripted(server);
  const BuildRequest request{.cases = {int8_case()}, .reference_kinds = {}};
  const auto built = build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
  const auto& outcome = built.artifacts.begin()->second;
  EXPECT_FALSE(outcome.artifact.has_value());
  EXPECT_THAT(outcome.failure.text, HasSubstr("/extra', which is no file"));
}

TEST(ArtifactBuilder, KeepsAFailedJobApartFromTheOthers) {
  const ScriptedToolchain scripted(kHonestServer);
  const BuildRequest request{.cases = {int8_case()}, .reference_kinds = {"float32"}};
  const auto built = build_artifacts(request, scripted.of(), scripted.cache(), {}).value();
  EXPECT_TRUE(built.artifacts.begin()->second.artifact.has_value());
  EXPECT_EQ(built.references.begin()->second.failure.outcome, Outcome::kCrashed);
}

TEST(ArtifactBuilder, LetsEachToolchainMakeWhatItsLoweringNeeds) {
  const ScriptedToolchain scripted(kHonestServer);
  ScriptedToolchain own(kHonestServer);
  own.toolchain.id = "t2";
  auto other = int8_case();
  other.recipe.lowering = {{"flow", "litert"}};
  const auto toolchain_of = [&](const Json& lowering) -> Result<Toolchain> {
    return lowering.is_object() && lowering.value("flow", "") == "litert" ? own.toolchain
                                                                          : scripted.toolchain;
  };
  const auto built =
      build_artifacts({.cases = {int8_case(), other, int8_case()}, .reference_kinds = {"float32"}},
                      toolchain_of, scripted.cache(), {})
          .value();
  EXPECT_EQ(built.made, 4);
  EXPECT_TRUE(built.artifacts.at(artifact_key(int8_case(), "t1")).artifact);
  EXPECT_TRUE(built.artifacts.at(artifact_key(other, "t2")).artifact);
  EXPECT_TRUE(built.references.contains(reference_key(other, "float32", "t2")));
}

/// Dies of a job whose model is deadly, and refuses the others.
constexpr auto* kMortalServer = R"sh(
while read -r line; do
  if [[ $line == *deadly* ]]; then exit 1; fi
  id=$(sed 's/.*"id":"\([0-9]*\)".*/\1/' <<<"$line")
  echo "{\"event\":\"done\",\"id\":\"$id\",\"outcome\":\"aot_error\",\"stage\":\"lower\",\"text\":\"refused\"}"
done
)sh";

Case case_of_model(std::string model) {
  auto cell = int8_case();
  cell.model.ref = std::move(model);
  return cell;
}

TEST(ArtifactBuilder, BlamesTheJobThatEndsTheServerAndMakesTheOthers) {
  const ScriptedToolchain scripted(kMortalServer);
  const std::vector cells = {case_of_model("a.py:good"), case_of_model("b.py:deadly"),
                             case_of_model("c.py:good"), case_of_model("d.py:deadly")};
  std::vector<std::string> done;
  const auto built = build_artifacts(
      {.cases = cells, .reference_kinds = {}}, scripted.of(), scripted.cache(),
      {.on_done = [&done](const std::string& label, const AotReply&) { done.push_back(label); }});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(done.size(), cells.size());
  for (const auto& cell : cells) {
    const bool is_deadly = cell.model.ref.ends_with("deadly");
    const auto& failure = built->artifacts.at(artifact_key(cell, "t1")).failure;
    EXPECT_EQ(failure.outcome, is_deadly ? Outcome::kCrashed : Outcome::kAotError) << failure.text;
    EXPECT_EQ(failure.reason_code, is_deadly ? "server_lost" : "") << cell.model.ref;
  }
}

TEST(ArtifactBuilder, GivesUpAServerThatOneJobAfterTheOtherEnds) {
  const ScriptedToolchain scripted("read -r line; exit 1\n");
  std::vector<Case> cells;
  for (int i = 0; i < 8; ++i) {
    cells.push_back(case_of_model("m.py:net" + std::to_string(i)));
  }
  const auto died =
      build_artifacts({.cases = cells, .reference_kinds = {}}, scripted.of(), scripted.cache(), {});
  ASSERT_FALSE(died);
  EXPECT_EQ(died.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(died.error().message, HasSubstr("5 jobs ended the ahead-of-time server"));
  EXPECT_THAT(died.error().message, HasSubstr("'m:net4 executorch/xnnpack-int8'"));
}

TEST(Cache, PutsAnEntryInThePlaceOfOneWhoseDocumentIsNone) {
  const ScriptedToolchain scripted(kHonestServer);
  const auto cache = scripted.cache();
  for (const auto* document : {"[1]", "7", "null", R"({"files": [1]})", R"({"files": 7})",
                               R"({"files": [{"name": 1, "sha256": 2}]})"}) {
    for (int time = 0; time < 2; ++time) {
      const auto staging = cache.make_staging_folder("key").value();
      ASSERT_TRUE(write_file_atomically(staging / "manifest.json", document));
      EXPECT_TRUE(cache.adopt("key", staging, "manifest.json")) << document;
      EXPECT_EQ(cache.find_artifact("key").error().code, ErrorCode::kCorrupt) << document;
    }
  }
}

TEST(Cache, RefusesAFileWhoseDigestIsWrongAndMakesItAgain) {
  const ScriptedToolchain scripted(kHonestServer);
  const BuildRequest request{.cases = {int8_case()}, .reference_kinds = {}};
  ASSERT_TRUE(build_artifacts(request, scripted.of(), scripted.cache(), {}));
  const auto key = artifact_key(int8_case(), "t1");
  const auto cache = scripted.cache();
  const auto path = std::filesystem::path(cache.find_artifact(key).value()->folder) / "program.pte";
  ASSERT_TRUE(write_file_atomically(path, "progrbm"));
  EXPECT_EQ(cache.find_artifact(key).error().code, ErrorCode::kCorrupt);
  const auto again = build_artifacts(request, scripted.of(), cache, {}).value();
  EXPECT_EQ(again.made, 1);
  EXPECT_TRUE(cache.find_artifact(key).value().has_value());
}

TEST(Toolchain, SaysHowToGetWhatIsMissing) {
  const auto missing = query_toolchain("/no/such/python");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("make build in Assay's source tree"));
}

/// An interpreter that prints the same whatever it is asked.
std::filesystem::path printing_python(const TemporaryFolder& folder, const std::string& text) {
  auto script = folder.path() / "python";
  std::ofstream(script) << "#!/bin/sh\nprintf '%s' '" << text << "'\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

TEST(Toolchain, SaysWhichRecipesItCannotMake) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto python =
      printing_python(folder, R"({"missing": {"torch/aoti": "finds no g++", "a/b": null}})");
  const auto missing = query_missing_recipes(python).value();
  EXPECT_THAT(missing, ElementsAre(Pair("a/b", ""), Pair("torch/aoti", "finds no g++")));
}

TEST(Toolchain, ThatAnswersSomethingElseIsUnavailable) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  for (const char* text : {"", "no JSON", "[]", R"({"schema": "assay/available/1"})"}) {
    const auto missing = query_missing_recipes(printing_python(folder, text));
    ASSERT_FALSE(missing) << text;
    EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable) << text;
  }
}

TEST(ProgramFile, IsItsOwnArtifact) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "m.pte", "abc"));
  const auto artifact = artifact_from_file(folder.path() / "m.pte").value();
  EXPECT_EQ(artifact.entry, "m.pte");
  EXPECT_EQ(artifact.files.at(0).sha256, sha256_hex("abc"));
  EXPECT_FALSE(artifact_from_file(folder.path() / "none.pte"));
}

TEST(ProgramFile, BringsTheWeightsThatLieBesideAnXml) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "m.xml", "<net/>"));
  ASSERT_TRUE(write_file_atomically(folder.path() / "m.bin", "abc"));
  const auto artifact = artifact_from_file(folder.path() / "m.xml").value();
  ASSERT_EQ(artifact.files.size(), 2U);
  EXPECT_EQ(artifact.entry, "m.xml");
  EXPECT_EQ(artifact.files[1].name, "m.bin");
  EXPECT_EQ(artifact.files[1].role, "data");
  EXPECT_EQ(artifact.files[1].sha256, sha256_hex("abc"));
}

TEST(AotClient, TellsAServerThatIsSlowFromOneThatDoesNotStart) {
  const TemporaryFolder folder = TemporaryFolder::make("assay-test").value();
  const auto python = folder.path() / "python";
  const Toolchain toolchain{.python = python, .id = "t1", .packages = {}};
  constexpr std::chrono::milliseconds kLimit{100};
  ASSERT_TRUE(write_file_atomically(python, "#!/bin/sh\nexec sleep 100\n", 0755));
  const auto slow = AotClient::start(toolchain, {}, 1, "/dev/null", kLimit);
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(slow.error().message, HasSubstr("not ready 100 ms after its start"));
  ASSERT_TRUE(write_file_atomically(python, "#!/bin/sh\nexit 1\n", 0755));
  const auto dead = AotClient::start(toolchain, {}, 1, "/dev/null");
  ASSERT_FALSE(dead);
  EXPECT_THAT(dead.error().message, HasSubstr("did not start; try: "));
}

}  // namespace
}  // namespace assay
