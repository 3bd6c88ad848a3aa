#include "assay/campaign/output_evaluation.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/case_launch.h"
#include "assay/campaign/preparation.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::HasSubstr;

NamedTensor named(const std::string& name, const std::vector<double>& values) {
  return {.name = name,
          .tensor = tensor_from_doubles(values, {static_cast<std::int64_t>(values.size())},
                                        Dtype::kFloat64)};
}

std::vector<std::byte> bytes_of(const std::vector<NamedTensor>& tensors) {
  return safetensors_from_tensors(tensors);
}

/// A float64 reference of a joint program: two parts of one output each, two samples.
struct JointReference {
  TemporaryFolder folder = TemporaryFolder::make("assay-test").value();
  Reference reference{
      .kind = "float64", .folder = folder.path().string(), .document = Json::object()};

  explicit JointReference(bool has_bounds = true) {
    write("outputs", {named("0.0", {1, 2}), named("0.1", {3, 4}), named("1.0", {5, 6}),
                      named("1.1", {7, -8})});
    if (has_bounds) {
      write("bounds", {named("0.0", {0.1, 0.1}), named("0.1", {0.1, 0.1}), named("1.0", {0.1, 0.1}),
                       named("1.1", {0.1, 0.1})});
    }
  }

  void write(const std::string& name, const std::vector<NamedTensor>& tensors) const {
    const auto bytes = bytes_of(tensors);
    const std::string content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ASSERT_TRUE(write_file_atomically(folder.path() / (name + ".safetensors"), content));
  }
};

const Json kManifest = Json::parse(R"({"program": {"parts": [
    {"inputs": [0, 1], "outputs": [0, 1]}, {"inputs": [1, 2], "outputs": [1, 2]}]}})");

TEST(ComparableReferences, AreThoseOfTheSameWeightsInputsAndSamples) {
  const Json manifest = {{"model", {{"weights_sha256", "a"}}},
                         {"calibration", {{"samples_sha256", "s"}}}};
  const Json same = {{"model", {{"weights_sha256", "a"}}}, {"inputs_sha256", "i"}};
  const Json quantized = {{"model", {{"weights_sha256", "a"}}},
                          {"calibration", {{"samples_sha256", "other"}}}};
  std::map<std::string, Reference> references;
  references["float32"] = {.kind = "float32", .document = same};
  references["qdq"] = {.kind = "qdq", .document = quantized};
  const auto some = comparable_references(references, manifest, same);
  EXPECT_TRUE(some.references.contains("float32"));
  EXPECT_FALSE(some.references.contains("qdq"));
  EXPECT_THAT(some.reason, HasSubstr("calibration's callable gives other samples"));
  references["float32"].document["model"]["weights_sha256"] = "b";
  EXPECT_TRUE(comparable_references(references, manifest, same).references.empty());
  references.erase("qdq");
  references["float32"].document = same;
  EXPECT_EQ(comparable_references(references, manifest, same).reason, "");
}

TEST(Parts, AreReadFromTheManifest) {
  const auto parts = parts_of(kManifest);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].outputs.begin, 1U);
  EXPECT_EQ(parts[1].inputs.begin, 1U);
  EXPECT_EQ(parts[1].outputs.end, 2U);
  EXPECT_TRUE(parts_of(Json()).empty());
  EXPECT_TRUE(parts_of(Json::object()).empty());
}

TEST(Parts, AreJudgedEachByItsOwnOutputsAndBounds) {
  const JointReference joint;
  const auto outputs = bytes_of(
      {named("0.0", {1, 2}), named("0.1", {3, 4.2}), named("1.0", {5, 6}), named("1.1", {7, -8})});
  const auto tables = evaluate_parts({}, {.outputs = outputs}, joint.reference, Json::object(),
                                     parts_of(kManifest));
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_EQ(tables->size(), 2U);
  EXPECT_EQ(tables->at(0).accuracy, Accuracy::kPass) << tables->at(0).reason;
  EXPECT_EQ(tables->at(1).accuracy, Accuracy::kFailNumeric);
  EXPECT_THAT(tables->at(1).reason, HasSubstr("4.2, expected 4 ± 0.1"));
}

TEST(Parts, AreNotExcusedByADifferenceBetweenExecutions) {
  const JointReference joint;
  const auto outputs = bytes_of(
      {named("0.0", {1, 2}), named("0.1", {3, 4}), named("1.0", {5, 6}), named("1.1", {7, -8})});
  const auto tables = evaluate_parts({}, {.outputs = outputs, .differing_elements = 1},
                                     joint.reference, Json::object(), parts_of(kManifest));
  ASSERT_TRUE(tables) << tables.error().message;
  for (const auto& table : *tables) {
    EXPECT_EQ(table.accuracy, Accuracy::kFailNondeterministic);
  }
}

TEST(JudgedOutputs, AreHeldAgainstBoundsWhereTheReferenceHasThem) {
  const auto outputs = bytes_of(
      {named("0.0", {1, 2}), named("0.1", {3, 4.05}), named("1.0", {5, 6}), named("1.1", {7, -8})});
  const JointReference with_bounds;
  const auto judged =
      evaluate_outputs({}, {.outputs = outputs}, with_bounds.reference, Json::object());
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(judged->accuracy, Accuracy::kPass) << judged->reason;
  const JointReference without(false);
  EXPECT_EQ(evaluate_outputs({}, {.outputs = outputs}, without.reference, Json::object())->accuracy,
            Accuracy::kFailNumeric);
}

TEST(JudgedOutputs, AreConstantWhereTheReferenceSaysSo) {
  JointReference joint;
  const std::vector<NamedTensor> same = {named("0.0", {1, 2}), named("1.0", {1, 2})};
  joint.write("outputs", same);
  joint.write("bounds", {named("0.0", {0, 0}), named("1.0", {0, 0})});
  const auto outputs = bytes_of(same);
  const auto judge = [&] {
    return evaluate_outputs({}, {.outputs = outputs}, joint.reference, Json::object())->accuracy;
  };
  EXPECT_EQ(judge(), Accuracy::kVacuous);
  joint.reference.document["outputs"] = {{{"name", "y"}, {"constant", true}}};
  EXPECT_EQ(judge(), Accuracy::kPass);
}

PreparedCase operator_case() {
  PreparedCase prepared;
  prepared.cell.model.ref = "aten:add.Tensor";
  prepared.cell.inputs = {.generator = "model", .count = 3};
  prepared.artifact = Artifact{};
  prepared.references["float64"] = {
      .kind = "float64", .folder = "/r", .document = {{"samples", 3}}};
  return prepared;
}

TEST(OwnInputs, ComeFromTheReferenceThatThereIs) {
  const auto order = launch_request_from_case(operator_case(), Pass::kEvaluate, {});
  EXPECT_EQ(order.inputs.file, "/r/inputs.safetensors");
  EXPECT_EQ(order.inputs.samples, 3);
  EXPECT_FALSE(order.inputs.is_generated);
}

TEST(OwnInputs, WithoutAReferenceAreOurFaultAndNotTheBackends) {
  auto prepared = operator_case();
  EXPECT_FALSE(why_not_launched(prepared).has_value());
  prepared.references.clear();
  prepared.missing_references["float64"] = {.outcome = Outcome::kAotError, .text = "eager raised"};
  const auto why = why_not_launched(prepared);
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->outcome, Outcome::kHarnessError);
  EXPECT_THAT(why->text, HasSubstr("eager raised"));
  // Even if the program fails too, the model is wrong,
  prepared.artifact.reset();
  prepared.failure = {.outcome = Outcome::kAotError, .stage = Stage::kExport, .text = "no"};
  EXPECT_EQ(why_not_launched(prepared)->outcome, Outcome::kHarnessError);
  // unless it is the recipe's quantization, whether or not a program was made of it.
  prepared.missing_references["float64"].stage = Stage::kQuantize;
  EXPECT_EQ(why_not_launched(prepared)->text, "eager raised");
  prepared.artifact = Artifact{};
  EXPECT_EQ(why_not_launched(prepared)->outcome, Outcome::kAotError);
}

TEST(OwnInputs, ThatOnlyTheLoweringOfTheRecipeKeepsBackAreItsRefusal) {
  auto prepared = operator_case();
  prepared.references.clear();
  const Conclusion refusal{
      .outcome = Outcome::kUnsupported, .stage = Stage::kLower, .text = "ONNX has no form of it"};
  for (const auto* kind : {"qdq", "lowered_eager"}) {
    prepared.missing_references = {{kind, refusal}};
    EXPECT_EQ(why_not_launched(prepared)->outcome, Outcome::kUnsupported) << kind;
    EXPECT_EQ(why_not_launched(prepared)->text, "ONNX has no form of it") << kind;
  }
  prepared.missing_references["qdq"].stage = Stage::kReference;
  prepared.missing_references.erase("lowered_eager");
  EXPECT_EQ(why_not_launched(prepared)->outcome, Outcome::kHarnessError);
}

TEST(InputsInAFile, ThatTheToolchainCannotReadCloseTheCaseWithItsReason) {
  auto prepared = operator_case();
  prepared.cell.inputs = {.generator = "file", .file = "in.npz"};
  EXPECT_FALSE(why_not_launched(prepared).has_value());
  prepared.references.clear();
  EXPECT_FALSE(why_not_launched(prepared).has_value()) << "none was asked for";
  prepared.missing_references["float32"] = {.outcome = Outcome::kAotError,
                                            .stage = Stage::kModel,
                                            .reason_code = "invalid_request",
                                            .text = "0.0 is float64"};
  prepared.missing_references["engine:other"] = {.outcome = Outcome::kSkipped, .text = "none"};
  EXPECT_EQ(why_not_launched(prepared)->text, "0.0 is float64");
  prepared.missing_references["float32"].reason_code = "reference_failed";
  const auto why = why_not_launched(prepared);
  EXPECT_EQ(why->outcome, Outcome::kAotError);
  EXPECT_EQ(why->stage, Stage::kReference);
  EXPECT_EQ(why->reason_code, "reference_failed");
  EXPECT_THAT(why->text, HasSubstr("0.0 is float64"));
}

TEST(InputsInAFile, OfAFinishedProgramAreForTheRunner) {
  auto prepared = operator_case();
  prepared.cell.model.ref = "net.onnx";
  prepared.cell.inputs = {.generator = "file", .file = "in.safetensors"};
  prepared.references.clear();
  prepared.missing_references["engine:other"] = {.outcome = Outcome::kCrashed, .text = "it died"};
  EXPECT_FALSE(why_not_launched(prepared).has_value());
  EXPECT_EQ(launch_request_from_case(prepared, Pass::kTiming, {}).inputs.file, "in.safetensors");
}

}  // namespace
}  // namespace assay
