#include "assay/engines/openvino/openvino_engine.h"

#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset13.hpp>
#include <string>
#include <vector>

#include "assay/base/fs.h"

namespace assay::openvino {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
namespace ops = ov::opset13;
using Ports = ov::OutputVector;

std::shared_ptr<ops::Parameter> parameter(const std::string& name, ov::element::Type type,
                                          const ov::PartialShape& shape) {
  auto node = std::make_shared<ops::Parameter>(type, shape);
  node->set_friendly_name(name);
  node->output(0).set_names({name});
  return node;
}

/// relu(x * w), x 2x3, w 3x4 with w[i][j] = i - j.
std::shared_ptr<ov::Model> mlp() {
  const auto x = parameter("x", ov::element::f32, {2, 3});
  std::vector<float> weights;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      weights.push_back(static_cast<float>(i - j));
    }
  }
  const auto w = ops::Constant::create(ov::element::f32, {3, 4}, weights);
  const auto y = std::make_shared<ops::Relu>(std::make_shared<ops::MatMul>(x, w));
  y->output(0).set_names({"y"});
  return std::make_shared<ov::Model>(Ports{y}, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> many_types() {
  const auto flags = parameter("flags", ov::element::boolean, {3});
  const auto counts = parameter("counts", ov::element::i64, {2});
  const auto halves = parameter("halves", ov::element::f16, {2});
  const auto two = ops::Constant::create(ov::element::i64, {1}, {2});
  return std::make_shared<ov::Model>(
      Ports{std::make_shared<ops::LogicalNot>(flags), std::make_shared<ops::Add>(counts, two),
            std::make_shared<ops::Relu>(halves)},
      ov::ParameterVector{flags, counts, halves});
}

/// x + 1 with a first dimension that only the inputs decide.
std::shared_ptr<ov::Model> dynamic(ov::Dimension rows) {
  const auto x = parameter("x", ov::element::f32, {rows, 3});
  const auto one = ops::Constant::create(ov::element::f32, {1}, {1.0F});
  return std::make_shared<ov::Model>(Ports{std::make_shared<ops::Add>(x, one)},
                                     ov::ParameterVector{x});
}

/// Adds x to a variable that it keeps.
std::shared_ptr<ov::Model> counter() {
  const auto x = parameter("x", ov::element::f32, {1});
  const auto variable = std::make_shared<ov::op::util::Variable>(
      ov::op::util::VariableInfo{ov::PartialShape{1}, ov::element::f32, "sum"});
  const auto zero = ops::Constant::create(ov::element::f32, {1}, {0.0F});
  const auto sum = std::make_shared<ops::Add>(std::make_shared<ops::ReadValue>(zero, variable), x);
  const auto kept = std::make_shared<ops::Assign>(sum, variable);
  return std::make_shared<ov::Model>(Ports{sum}, ov::SinkVector{kept}, ov::ParameterVector{x});
}

/// Fields of the protocol buffers that ONNX files are made of.
std::string onnx_field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string onnx_number(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

/// y = Relu(x), both float32 of two elements.
std::string onnx_relu() {
  const auto value = [](const std::string& name) {
    const auto shape = onnx_field(2, onnx_field(1, onnx_number(1, 2)));
    return onnx_field(1, name) + onnx_field(2, onnx_field(1, onnx_number(1, 1) + shape));
  };
  const auto node = onnx_field(1, "x") + onnx_field(2, "y") + onnx_field(4, "Relu");
  const auto graph = onnx_field(1, node) + onnx_field(2, "g") + onnx_field(11, value("x")) +
                     onnx_field(12, value("y"));
  return onnx_number(1, 8) + onnx_field(7, graph) + onnx_field(8, onnx_number(2, 13));
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  Tensor tensor = Tensor::zeros(Dtype::kFloat32, std::move(shape));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

std::vector<Tensor> infer(Session& session, const std::vector<Tensor>& inputs) {
  std::vector<TensorView> views;
  for (const auto& input : inputs) {
    views.push_back(input.view());
  }
  const auto bound = session.bind(views);
  EXPECT_TRUE(bound) << bound.error().message;
  const auto executed = session.execute();
  EXPECT_TRUE(executed) << executed.error().message;
  std::vector<Tensor> outputs;
  const auto fetched = session.fetch();
  EXPECT_TRUE(fetched) << fetched.error().message;
  if (bound && executed && fetched) {
    for (const auto& output : *fetched) {
      outputs.push_back(Tensor::copy_of(output));
    }
  }
  return outputs;
}

class OpenvinoEngineTest : public testing::Test {
 protected:
  std::filesystem::path save(const std::shared_ptr<ov::Model>& model,
                             const std::string& name = "m") {
    auto path = folder_.path() / (name + ".xml");
    ov::save_model(model, path.string(), /*compress_to_fp16=*/false);
    return path;
  }
  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    auto path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(path, bytes));
    return path;
  }
  Result<std::unique_ptr<Session>> load(const std::filesystem::path& path,
                                        Json options = {{"threads", 1}}) {
    return engine_.load({.entry = path, .options = std::move(options)});
  }

  TemporaryFolder folder_ = TemporaryFolder::make("openvino").value();
  OpenvinoEngine engine_;
  const std::vector<Tensor> x_ = {floats({2, 3}, {1, 2, 3, -1, 0, 1})};
};

TEST_F(OpenvinoEngineTest, ComputesAnIr) {
  auto session = load(save(mlp()));
  ASSERT_TRUE(session) << session.error().message;
  const auto outputs = infer(**session, x_);
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_THAT(outputs[0].shape, ElementsAre(2, 4));
  EXPECT_THAT(doubles_from_tensor(outputs[0].view()), ElementsAre(8, 2, 0, 0, 2, 2, 2, 2));
}

TEST_F(OpenvinoEngineTest, ComputesAnOnnxProgram) {
  auto session = load(write("relu.onnx", onnx_relu()));
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->report().inputs.at(0).name, "x");
  const auto outputs = infer(**session, {floats({2}, {-1, 5})});
  EXPECT_THAT(doubles_from_tensor(outputs.at(0).view()), ElementsAre(0, 5));
}

TEST_F(OpenvinoEngineTest, TakesItsOwnCopyOfTheInputs) {
  auto session = load(save(mlp())).value();
  auto input = x_[0];
  ASSERT_TRUE(session->bind(std::vector{input.view()}));
  std::ranges::fill(input.data, std::byte{0});
  ASSERT_TRUE(session->execute());
  EXPECT_EQ(doubles_from_tensor(session->fetch().value()[0]).at(0), 8);
}

TEST_F(OpenvinoEngineTest, ReportsTheSignature) {
  const auto session = load(save(many_types())).value();
  const auto& inputs = session->report().inputs;
  ASSERT_THAT(inputs, SizeIs(3));
  EXPECT_EQ(inputs[0].name, "flags");
  EXPECT_EQ(inputs[0].dtype, Dtype::kBool);
  EXPECT_EQ(inputs[1].dtype, Dtype::kInt64);
  EXPECT_EQ(inputs[2].dtype, Dtype::kFloat16);
  EXPECT_THAT(inputs[0].shape, ElementsAre(3));
  EXPECT_THAT(session->report().outputs, SizeIs(3));
}

TEST_F(OpenvinoEngineTest, ComputesInManyTypes) {
  auto session = load(save(many_types())).value();
  Tensor flags{Dtype::kBool, {3}, {std::byte{1}, std::byte{0}, std::byte{1}}};
  Tensor counts = Tensor::zeros(Dtype::kInt64, {2});
  const auto halves = tensor_from_doubles(std::vector<double>{-1, 0.5}, {2}, Dtype::kFloat16);
  const auto outputs = infer(*session, {flags, counts, halves});
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_THAT(doubles_from_tensor(outputs[0].view()), ElementsAre(0, 1, 0));
  EXPECT_THAT(doubles_from_tensor(outputs[1].view()), ElementsAre(2, 2));
  EXPECT_THAT(doubles_from_tensor(outputs[2].view()), ElementsAre(0, 0.5));
}

TEST_F(OpenvinoEngineTest, BindsDynamicShapesByTheInputsGiven) {
  auto session = load(save(dynamic(ov::Dimension::dynamic()))).value();
  EXPECT_THAT(session->report().inputs[0].shape, ElementsAre(kUnboundDimension, 3));
  for (const std::int64_t rows : {4, 1, 6}) {
    const auto outputs = infer(*session, {Tensor::zeros(Dtype::kFloat32, {rows, 3})});
    ASSERT_THAT(outputs, SizeIs(1));
    EXPECT_THAT(outputs[0].shape, ElementsAre(rows, 3));
    EXPECT_THAT(doubles_from_tensor(outputs[0].view()), testing::Each(1.0));
  }
  const auto wide = Tensor::zeros(Dtype::kFloat32, {2, 4});
  const auto bound = session->bind(std::vector{wide.view()});
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message, HasSubstr("float32 2x4, the program takes float32 ?x3"));
}

TEST_F(OpenvinoEngineTest, TakesTheUpperBoundOfADimension) {
  const auto session = load(save(dynamic(ov::Dimension(1, 6)))).value();
  EXPECT_THAT(session->report().inputs[0].shape, ElementsAre(6, 3));
  const auto large = Tensor::zeros(Dtype::kFloat32, {7, 3});
  EXPECT_FALSE(session->bind(std::vector{large.view()}));
}

TEST_F(OpenvinoEngineTest, BindsDynamicShapesByTheOption) {
  const auto path = save(dynamic(ov::Dimension::dynamic()));
  const auto session = load(path, {{"input_shapes", "x:5x3"}}).value();
  EXPECT_THAT(session->report().inputs[0].shape, ElementsAre(5, 3));
  EXPECT_THAT(load(path, {{"input_shapes", "5x3"}}).value()->report().inputs[0].shape,
              ElementsAre(5, 3));
  const auto misnamed = load(path, {{"input_shapes", "z:5x3"}});
  ASSERT_FALSE(misnamed);
  EXPECT_EQ(misnamed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(misnamed.error().message, HasSubstr("the program's inputs: x"));
  EXPECT_THAT(load(path, {{"input_shapes", "x:5,3"}}).error().message, HasSubstr("is no shape"));
}

TEST_F(OpenvinoEngineTest, RefusesInputsThatDoNotFitNamingBoth) {
  auto session = load(save(mlp())).value();
  const auto integers = Tensor::zeros(Dtype::kInt64, {2, 3});
  const auto flat = Tensor::zeros(Dtype::kFloat32, {6});
  EXPECT_THAT(session->bind({}).error().message,
              HasSubstr("0 inputs are given, the program takes 1"));
  EXPECT_THAT(session->bind(std::vector{integers.view()}).error().message,
              HasSubstr("int64 2x3, the program takes float32 2x3"));
  EXPECT_EQ(session->bind(std::vector{flat.view()}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(OpenvinoEngineTest, KeepsStateUntilItIsReset) {
  auto session = load(save(counter())).value();
  const auto next = [&] {
    return doubles_from_tensor(infer(*session, {floats({1}, {1})}).at(0).view()).at(0);
  };
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 2);
  ASSERT_TRUE(session->reset_state());
  EXPECT_EQ(next(), 1);
}

TEST_F(OpenvinoEngineTest, ReadsEffectiveOptionsBack) {
  const auto session =
      load(save(mlp()), {{"threads", 2}, {"hint", "throughput"}, {"pinning", false}}).value();
  const auto& options = session->report().effective_options;
  EXPECT_EQ(options["threads"], 2);
  EXPECT_EQ(options["hint"], "throughput");
  EXPECT_EQ(options["pinning"], false);
  EXPECT_EQ(options["precision"], "f32");
  EXPECT_EQ(options["device"], "CPU");
  EXPECT_TRUE(options["streams"].is_number_integer());
  EXPECT_THAT(options["layers"].get<std::string>(), HasSubstr("f32"));
}

TEST_F(OpenvinoEngineTest, ComputesInFloat32UnlessToldOtherwise) {
  const auto path = save(mlp());
  EXPECT_EQ(load(path).value()->report().effective_options["precision"], "f32");
  const auto session = load(path, {{"precision", "bf16"}});
  if (session) {  // A processor without it may compute in float32, and says so.
    const auto& report = (*session)->report();
    const bool is_told = report.effective_options["precision"] == "bf16" || !report.notes.empty();
    EXPECT_TRUE(is_told) << report.effective_options.dump();
  }
}

TEST_F(OpenvinoEngineTest, QuantizesNoFloatingValuesInFloat32UnlessToldTo) {
  const auto path = save(mlp());
  const auto options_with = [&](const Json& options) {
    return load(path, options).value()->report().effective_options;
  };
  constexpr const char* kGroup = "dynamic_quantization_group_size";
  constexpr const char* kCache = "kv_cache_precision";
  const auto exact = options_with(Json::object());
  EXPECT_EQ(exact[kGroup], 0);
  EXPECT_EQ(exact[kCache], "f32");
  EXPECT_EQ(options_with({{kGroup, 64}})[kGroup], 64);
  EXPECT_EQ(options_with({{kCache, "u8"}})[kCache], "u8");
  EXPECT_NE(options_with({{"precision", "default"}})[kGroup], 0) << "the engine's own choice";
}

TEST_F(OpenvinoEngineTest, KeepsCompiledModelsInTheCacheFolder) {
  const auto path = save(mlp());
  const Json options = {{"cache_dir", (folder_.path() / "cache").string()}};
  EXPECT_EQ(load(path, options).value()->report().effective_options["loaded_from_cache"], false);
  auto again = load(path, options).value();
  EXPECT_EQ(again->report().effective_options["loaded_from_cache"], true);
  EXPECT_EQ(doubles_from_tensor(infer(*again, x_).at(0).view()).at(0), 8);
}

TEST_F(OpenvinoEngineTest, RefusesOptionsThatMakeNoSense) {
  const auto path = save(mlp());
  EXPECT_EQ(load(path, {{"threads", 0}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load(path, {{"hint", "speed"}}).error().code, ErrorCode::kInvalidArgument);
  const auto device = load(path, {{"device", "TOASTER"}});
  EXPECT_EQ(device.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(device.error().message, HasSubstr("found: CPU"));
}

TEST_F(OpenvinoEngineTest, RefusesOtherMethodsAndKindsOfFiles) {
  const LoadRequest request{.entry = save(mlp()), .method = "predict"};
  EXPECT_EQ(engine_.load(request).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(load(write("m.pte", "x")).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(OpenvinoEngineTest, SaysWhichOperatorItDoesNotKnow) {
  const auto path = save(mlp());
  auto xml = read_file(path).value();
  const std::string relu = "type=\"ReLU\"";
  ASSERT_NE(xml.find(relu), std::string::npos);
  xml.replace(xml.find(relu), relu.size(), "type=\"Frobnicate\"");
  ASSERT_TRUE(write_file_atomically(path, xml));
  const auto loaded = load(path);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kUnsupported) << loaded.error().message;
  EXPECT_THAT(loaded.error().message, HasSubstr("Frobnicate"));
  EXPECT_THAT(loaded.error().message, Not(HasSubstr("src/")));
}

TEST_F(OpenvinoEngineTest, TellsDamagedOnnxPrograms) {
  const auto loaded = load(write("cut.onnx", onnx_relu().substr(0, 20)));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kCorrupt) << loaded.error().message;
}

TEST_F(OpenvinoEngineTest, SaysWhyALibraryDoesNotLoad) {
  const LoadRequest request{.entry = save(mlp()), .libraries = {write("lib.so", "no library")}};
  EXPECT_EQ(engine_.load(request).error().code, ErrorCode::kUnavailable);
  const LoadRequest absent{.entry = save(mlp()), .libraries = {"/none.so"}};
  EXPECT_EQ(engine_.load(absent).error().code, ErrorCode::kNotFound);
}

TEST_F(OpenvinoEngineTest, ProfilesInACompilationOfItsOwn) {
  auto session = load(save(mlp())).value();
  auto* profiler = find_extension<Profiler>(*session);
  ASSERT_NE(profiler, nullptr);
  ASSERT_TRUE(profiler->start());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(doubles_from_tensor(infer(*session, x_).at(0).view()).at(0), 8);
  }
  const auto report = profiler->stop(3).value();
  EXPECT_EQ(report.iterations, 3);
  ASSERT_THAT(report.events, Not(IsEmpty()));
  EXPECT_EQ(report.events[0].kind, "method");
  EXPECT_EQ(report.events[0].count, 3);
  EXPECT_GT(report.method_median_ns, 0);
  EXPECT_THAT(report.spans, SizeIs(3));
  EXPECT_THAT(report.notes, Contains(HasSubstr("microseconds")));
  EXPECT_EQ(doubles_from_tensor(infer(*session, x_).at(0).view()).at(0), 8) << "timed one again";
}

TEST_F(OpenvinoEngineTest, DeclaresTheMemoryOfItsTensors) {
  auto session = load(save(mlp())).value();
  auto* teller = find_extension<MemoryReporter>(*session);
  ASSERT_NE(teller, nullptr);
  const auto memory = teller->declared_memory();
  ASSERT_THAT(memory, SizeIs(2));
  EXPECT_EQ(memory[0].bytes, 2 * 3 * 4);
  EXPECT_EQ(memory[1].bytes, 2 * 4 * 4);
}

TEST_F(OpenvinoEngineTest, LoadsManyTimesInOneProcess) {
  const auto path = save(mlp());
  for (int i = 0; i < 20; ++i) {
    auto session = load(path).value();
    EXPECT_EQ(doubles_from_tensor(infer(*session, x_).at(0).view()).at(0), 8);
  }
}

TEST_F(OpenvinoEngineTest, DescribesItself) {
  const auto description = engine_.describe().value();
  EXPECT_EQ(description.name, "openvino");
  EXPECT_THAT(description.version, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(description.build_id, SizeIs(64));
  EXPECT_THAT(description.formats, ElementsAre("openvino_ir", "onnx", "tflite"));
  ASSERT_THAT(description.backends, Not(IsEmpty()));
  EXPECT_TRUE(description.backends[0].is_available) << description.backends[0].reason;
}

}  // namespace
}  // namespace assay::openvino
