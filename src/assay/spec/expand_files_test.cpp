#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/spec/expand.h"
#include "assay/spec/testing/expand_fixture.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(ExpandSpec, KnowsAProgramByAllItsFiles) {
  const Json fields = {{"models", {add_file("net.pte", "program")}}};
  const auto alone = case_key(expansion_of(fields).cases.at(0));
  add_file("net.ptd", "weights");
  const auto with_data = case_key(expansion_of(fields).cases.at(0));
  add_file("net.ptd", "other weights");
  const auto with_other = case_key(expansion_of(fields).cases.at(0));
  EXPECT_NE(alone, with_data);
  EXPECT_NE(with_data, with_other);
}

TEST_F(ExpandSpec, SaysWhereAMissingFileComesFrom) {
  const auto error =
      error_of({{"models", {{{"ref", "gone.pte"}, {"url", "https://example.org/gone.pte"}}}}});
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr("x.json: models[0].ref"), HasSubstr("gone.pte"),
                                   HasSubstr("https://example.org/gone.pte")));
  EXPECT_EQ(error_of({{"models", {{{"ref", "a:b"}, {"inputs", "gone.npz"}}}}}).code,
            ErrorCode::kNotFound);
}

TEST_F(ExpandSpec, SaysThatAnEndingInCapitalsIsNone) {
  const auto program = add_file("NET.PTE", "program");
  const auto expansion = expansion_of({{"models", {program}}, {"recipes", nullptr}});
  ASSERT_EQ(expansion.refused.size(), 1U);
  EXPECT_THAT(expansion.refused[0].reason, HasSubstr("endings are in small letters: rename"));
}

TEST_F(ExpandSpec, RefusesAFileWhoseNameIsNoText) {
  const auto name = add_file("n\xe9t.pte", "program");
  const auto samples = add_file("\xff.npz", "samples");
  const auto good = add_file("net.pte", "program");
  const auto given = add_file("x.npz", "samples");
  for (const Json& model : {Json{{"ref", name}}, Json{{"ref", good}, {"inputs", samples}},
                            Json{{"ref", good}, {"inputs", given}, {"expected", samples}}}) {
    const auto error = error_of({{"models", {model}}});
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << error.message;
    EXPECT_THAT(error.message, HasSubstr("is not UTF-8; rename the file, or its folder"));
  }
}

TEST_F(ExpandSpec, DigestsAFolderOfSamplesByWhatLiesInIt) {
  add_file("net.onnx", "model");
  add_file("sets/test_data_set_0/input_0.pb", "a");
  const auto inputs_of = [this] {
    const Json model = {{"ref", "net.onnx"}, {"inputs", "sets/"}};
    return expansion_of({{"models", {model}}, {"recipes", nullptr}}).cases.at(0).inputs;
  };
  const auto first = inputs_of();
  EXPECT_EQ(first.generator, "file");
  EXPECT_EQ(first.file, (folder_.path() / "sets").string());
  EXPECT_EQ(inputs_of().file_sha256, first.file_sha256);
  add_file("sets/test_data_set_0/output_0.pb", "b");
  const auto second = inputs_of();
  EXPECT_NE(second.file_sha256, first.file_sha256);
  add_file("sets/test_data_set_0/input_0.pb", "c");
  EXPECT_NE(inputs_of().file_sha256, second.file_sha256);
}

TEST_F(ExpandSpec, TakesExpectedOutputsAndDimensionsAlong) {
  add_file("net.onnx", "model");
  add_file("x.npz", "x");
  const auto outputs = add_file("y.npz", "y");
  const auto case_of = [this](const Json& more) {
    Json model = {{"ref", "net.onnx"}, {"inputs", "x.npz"}};
    model.update(more);
    return expansion_of({{"models", {model}}, {"recipes", nullptr}}).cases.at(0);
  };
  const auto plain = case_of(Json::object());
  const auto expecting = case_of({{"expected", "y.npz"}});
  EXPECT_EQ(expecting.expected_file, outputs);
  EXPECT_EQ(expecting.expected_sha256, sha256_hex("y"));
  // Expected outputs do not change what is measured; a dimension does.
  EXPECT_EQ(case_key(expecting), case_key(plain));
  EXPECT_NE(case_key(case_of({{"dimensions", {{"batch", 2}}}})), case_key(plain));
}

TEST_F(ExpandSpec, GivesABundleItsOwnInputs) {
  const auto bundle = add_file("net.bpte", "program and samples");
  const auto cell = expansion_of({{"models", {"net.bpte"}}, {"recipes", nullptr}}).cases.at(0);
  EXPECT_EQ(cell.engine, "executorch");
  EXPECT_EQ(cell.inputs.file, bundle);
  const Json random = {{"ref", "net.bpte"}, {"inputs", {{1, 4}}}};
  EXPECT_EQ(expansion_of({{"models", {random}}, {"recipes", nullptr}}).cases.at(0).inputs.generator,
            "normal");
}

TEST_F(ExpandSpec, RefusesAFileWithAnotherDigest) {
  add_file("net.pte", "content");
  const auto model = [](const std::string& digest) -> Json {
    return {{"models", {{{"ref", "net.pte"}, {"sha256", digest}}}}};
  };
  EXPECT_THAT(expansion_of(model(sha256_hex("content"))).cases, SizeIs(1));
  const auto error = error_of(model(sha256_hex("other")));
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr(sha256_hex("content")));
}

}  // namespace
}  // namespace assay
