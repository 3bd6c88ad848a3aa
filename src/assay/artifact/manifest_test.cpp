#include "assay/artifact/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

using testing::HasSubstr;

Json whole_manifest() {
  return Json::parse(R"({
    "schema": "assay/manifest/1",
    "entry": "program.pte",
    "files": [{"name": "program.pte", "role": "program", "bytes": 7, "sha256": "ab"}],
    "stages": [{"name": "export", "wall_ns": 5}],
    "program": {"nodes_delegated": 1, "nodes_not_delegated": 2,
                "delegates": [{"id": "x", "count": 1, "processed_bytes": 3}],
                "operators_left": [{"name": "aten.add", "count": 2, "reason": null}],
                "methods": [{"name": "forward", "planned_arena_bytes": [64]}]},
    "delegation": "partial"})");
}

Result<Artifact> read(const Json& manifest) {
  return artifact_from_manifest("key", "/cache/key", manifest);
}

std::string complaint_after(const char* pointer, const Json& value) {
  auto manifest = whole_manifest();
  manifest[Json::json_pointer(pointer)] = value;
  const auto artifact = read(manifest);
  return artifact ? "accepted" : artifact.error().message;
}

TEST(Manifest, BecomesAnArtifact) {
  const auto artifact = read(whole_manifest());
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->entry, "program.pte");
  EXPECT_EQ(artifact->folder, "/cache/key");
  ASSERT_EQ(artifact->files.size(), 1U);
  EXPECT_EQ(artifact->files[0].bytes, 7);
  EXPECT_EQ(artifact->files[0].role, "program");
  EXPECT_EQ(artifact->manifest, whole_manifest());
}

TEST(Manifest, OfWhatOnlyLowersHasNoEntry) {
  auto manifest = whole_manifest();
  manifest["entry"] = nullptr;
  manifest["files"] = Json::array();
  const auto artifact = read(manifest);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->entry, "");
  EXPECT_TRUE(artifact->files.empty());
}

TEST(Manifest, OfAnotherTypeSomewhereIsCorruptAndSaysWhere) {
  EXPECT_THAT(complaint_after("/entry", 5), HasSubstr("/entry is not a text, or null"));
  EXPECT_THAT(complaint_after("/files/0/bytes", -1), HasSubstr("/files/0/bytes is not a size"));
  EXPECT_THAT(complaint_after("/files/0", "x"), HasSubstr("/files/0 is not an object"));
  EXPECT_THAT(complaint_after("/stages/0/wall_ns", "5"), HasSubstr("/stages/0/wall_ns"));
  EXPECT_THAT(complaint_after("/program", Json::array()), HasSubstr("/program is not an object"));
  EXPECT_THAT(complaint_after("/program/methods/0/planned_arena_bytes/0", nullptr),
              HasSubstr("planned_arena_bytes/0 is not a number"));
  EXPECT_THAT(complaint_after("/program/operators_left/0/name", 1), HasSubstr("must be rebuilt"));
  EXPECT_EQ(complaint_after("/unknown", 1), "accepted");
}

TEST(Manifest, OfAJointProgramSaysWhichOutputsAPartHas) {
  const auto parts = [](const char* text) {
    return complaint_after("/program/parts", Json::parse(text));
  };
  EXPECT_EQ(parts(R"([{"outputs": [0, 2], "delegation": {"nodes_delegated": 1}}])"), "accepted");
  EXPECT_THAT(parts(R"([{"outputs": [0]}])"), HasSubstr("parts/0/outputs is not two sizes"));
  EXPECT_THAT(parts(R"([{"outputs": [0, -1]}])"), HasSubstr("is not two sizes"));
  EXPECT_THAT(parts(R"([{"inputs": [0, 1]}])"), HasSubstr("parts/0/outputs is missing"));
}

TEST(Manifest, WithoutWhatMustBeThereIsCorrupt) {
  auto manifest = whole_manifest();
  manifest["files"][0].erase("sha256");
  ASSERT_FALSE(read(manifest));
  EXPECT_EQ(read(manifest).error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read(manifest).error().message, HasSubstr("/files/0/sha256 is missing"));
  EXPECT_FALSE(read(Json::array()));
  EXPECT_FALSE(read(nullptr));
}

TEST(Manifest, LeadsToNoFileElsewhere) {
  EXPECT_THAT(complaint_after("/files/0/name", "../secret"), HasSubstr("'../secret'"));
  EXPECT_THAT(complaint_after("/files/0/name", "/etc/passwd"),
              HasSubstr("is not the name of a file"));
  EXPECT_THAT(complaint_after("/files/0/name", ".."), HasSubstr("is not the name of a file"));
  EXPECT_THAT(complaint_after("/files/0/name", ""), HasSubstr("is not the name of a file"));
}

TEST(Manifest, LoadsOneOfItsFiles) {
  for (const auto* entry : {"../x", "/etc/passwd", "other.pte", ""}) {
    EXPECT_THAT(complaint_after("/entry", entry), HasSubstr("is not one of its files")) << entry;
  }
  EXPECT_THAT(complaint_after("/files", Json::array()), HasSubstr("is not one of its files"));
}

TEST(ReferenceDocument, HasItsKind) {
  const auto document = Json::parse(R"({"kind": "qdq", "files": []})");
  EXPECT_EQ(reference_from_document("key", "/r", document).value().kind, "qdq");
  EXPECT_FALSE(reference_from_document("key", "/r", Json::parse(R"({"files": []})")));
}

}  // namespace
}  // namespace assay
