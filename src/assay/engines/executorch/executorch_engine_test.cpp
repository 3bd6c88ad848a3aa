#include "assay/engines/executorch/executorch_engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/safetensors.h"
#include "assay/tensor/tensor.h"

namespace assay::et {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::filesystem::path programs() { return ASSAY_TEST_PROGRAMS; }

/// Lets Python make the programs once; false when it has no PyTorch or ExecuTorch.
bool make_programs() {
  static const bool has_programs = [] {
    std::filesystem::create_directories(programs());
    const auto made = run_command({.argv = {ASSAY_TEST_PYTHON, ASSAY_TEST_SCRIPT, programs()},
                                   .env = {{"OMP_NUM_THREADS", "1"}, {"PYTHONWARNINGS", "ignore"}},
                                   .stderr_file = programs() / "make.log"},
                                  std::chrono::minutes(4));
    return made && made->exit_code == 0;
  }();
  return has_programs;
}

std::vector<Tensor> tensors_named(const std::string& program, std::string_view prefix) {
  std::vector<Tensor> found;
  const auto tensors = read_safetensors(programs() / (program + ".safetensors")).value();
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix)) {
      found.push_back(tensor);
    }
  }
  return found;
}

class ExecutorchEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!make_programs()) {
      GTEST_SKIP() << "the Python interpreter has no PyTorch with ExecuTorch";
    }
  }

  Result<std::unique_ptr<Session>> load(const std::string& program, Json options = {{"threads", 1}},
                                        std::vector<std::filesystem::path> data = {}) {
    return engine_.load({.entry = programs() / (program + ".pte"),
                         .data = std::move(data),
                         .options = std::move(options)});
  }

  /// A copy of a program with bytes replaced, length for length.
  std::filesystem::path damaged(const std::string& program, const std::string& from,
                                const std::string& to) {
    auto bytes = read_file(programs() / (program + ".pte")).value();
    for (auto at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
      bytes.replace(at, from.size(), to);
    }
    const auto path = folder_.path() / "damaged.pte";
    EXPECT_TRUE(write_file_atomically(path, bytes));
    return path;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("executorch").value();
  ExecutorchEngine engine_;
};

std::vector<Tensor> infer(Session& session, const std::vector<Tensor>& inputs) {
  std::vector<TensorView> views;
  views.reserve(inputs.size());
  for (const auto& input : inputs) {
    views.push_back(input.view());
  }
  const auto bound = session.bind(views);
  EXPECT_TRUE(bound) << bound.error().message;
  const auto executed = session.execute();
  EXPECT_TRUE(executed) << executed.error().message;
  std::vector<Tensor> outputs;
  const auto fetched = session.fetch();
  if (bound && executed && fetched) {
    for (const auto& output : *fetched) {
      outputs.push_back(Tensor::copy_of(output));
    }
  }
  return outputs;
}

void expect_near(const std::vector<Tensor>& got, const std::vector<Tensor>& expected,
                 double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].dtype, expected[i].dtype);
    EXPECT_EQ(got[i].shape, expected[i].shape);
    const auto a = doubles_from_tensor(got[i].view());
    const auto b = doubles_from_tensor(expected[i].view());
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t j = 0; j < a.size(); ++j) {
      EXPECT_NEAR(a[j], b[j], tolerance) << "output " << i << " element " << j;
    }
  }
}

TEST_F(ExecutorchEngineTest, ComputesWhatEagerPytorchComputes) {
  for (const char* name : {"add_portable", "mlp_portable", "mlp_xnnpack", "many_types"}) {
    SCOPED_TRACE(name);
    auto session = load(name);
    ASSERT_TRUE(session) << session.error().message;
    expect_near(infer(**session, tensors_named(name, "in.")), tensors_named(name, "out."));
  }
}

TEST_F(ExecutorchEngineTest, ComputesTheSameFromAMappedAndVerifiedProgram) {
  auto session = load("mlp_xnnpack", {{"load_mode", "mmap"}, {"verify", true}}).value();
  EXPECT_EQ(session->report().effective_options["load_mode"], "mmap");
  expect_near(infer(*session, tensors_named("mlp_xnnpack", "in.")),
              tensors_named("mlp_xnnpack", "out."));
}

TEST_F(ExecutorchEngineTest, LoadsTheOpenvinoDelegateWhenAProgramNeedsIt) {
  if (!std::filesystem::exists(programs() / "mlp_openvino.pte")) {
    GTEST_SKIP() << "the Python interpreter has no OpenVINO for ExecuTorch";
  }
  for (const char* mode : {"file", "mmap"}) {
    auto session = load("mlp_openvino", {{"threads", 1}, {"load_mode", mode}});
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_THAT((*session)->report().backends, ElementsAre("OpenvinoBackend"));
    EXPECT_THAT((*session)->report().notes, Contains(HasSubstr("as many threads as it may")));
    for (int i = 0; i < 3; ++i) {  // It computes in bfloat16 where it can.
      expect_near(infer(**session, tensors_named("mlp_openvino", "in.")),
                  tensors_named("mlp_openvino", "out."), 0.02);
    }
  }
}

TEST_F(ExecutorchEngineTest, TellsOfBackendsThatAreNotLoadedYet) {
  const auto description = engine_.describe().value();
  EXPECT_EQ(std::filesystem::exists(programs() / "mlp_openvino.pte"),
            std::ranges::any_of(description.backends, [](const auto& backend) {
              return backend.name == "OpenvinoBackend" && backend.is_available;
            }));
}

TEST_F(ExecutorchEngineTest, SaysHowToGetQnnWhereItsLibrariesAreNot) {
  ::setenv("QNN_SDK_ROOT", "/nonexistent", 1);
  const auto description = engine_.describe().value();
  ::unsetenv("QNN_SDK_ROOT");
  const auto qnn = std::ranges::find(description.backends, "QnnBackend", &BackendInfo::name);
  ASSERT_NE(qnn, description.backends.end());
  EXPECT_FALSE(qnn->is_available);
  EXPECT_THAT(qnn->reason, HasSubstr("make qnn"));
}

TEST_F(ExecutorchEngineTest, TakesAndReturnsRowMajorTensorsWhateverTheProgramsLayout) {
  auto session = load("channels_last").value();
  expect_near(infer(*session, tensors_named("channels_last", "in.")),
              tensors_named("channels_last", "out."));
}

TEST_F(ExecutorchEngineTest, ReportsTheSignature) {
  const auto session = load("many_types").value();
  const auto& inputs = session->report().inputs;
  ASSERT_THAT(inputs, SizeIs(3));
  EXPECT_EQ(inputs[0].dtype, Dtype::kBool);
  EXPECT_EQ(inputs[1].dtype, Dtype::kInt64);
  EXPECT_EQ(inputs[2].dtype, Dtype::kFloat16);
  EXPECT_THAT(inputs[0].shape, ElementsAre(3));
  EXPECT_THAT(session->report().outputs, SizeIs(3));
}

TEST_F(ExecutorchEngineTest, FollowsDynamicShapesUpToTheBound) {
  auto session = load("dynamic").value();
  const auto ones = [](std::int64_t rows) {
    Tensor tensor = Tensor::zeros(Dtype::kFloat32, {rows, 3});
    const std::vector<float> values(static_cast<std::size_t>(rows) * 3, 1.0F);
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    return tensor;
  };
  for (const std::int64_t rows : {6, 2, 5}) {
    const auto outputs = infer(*session, {ones(rows), ones(rows)});
    ASSERT_THAT(outputs, SizeIs(1));
    EXPECT_THAT(outputs[0].shape, ElementsAre(rows, 3));
    EXPECT_THAT(doubles_from_tensor(outputs[0].view()), testing::Each(3.0));
  }
  const auto large = ones(7);
  const auto bound = session->bind(std::vector{large.view(), large.view()});
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(bound.error().message, HasSubstr("float32 7x3, the program takes float32 6x3"));
}

TEST_F(ExecutorchEngineTest, RefusesInputsThatDoNotFitNamingBoth) {
  auto session = load("add_portable").value();
  const auto right = Tensor::zeros(Dtype::kFloat32, {2, 3});
  const auto integers = Tensor::zeros(Dtype::kInt64, {2, 3});
  const auto flat = Tensor::zeros(Dtype::kFloat32, {6});
  EXPECT_THAT(session->bind(std::vector{right.view()}).error().message,
              HasSubstr("1 inputs are given, the program takes 2"));
  EXPECT_THAT(session->bind(std::vector{right.view(), integers.view()}).error().message,
              HasSubstr("int64 2x3, the program takes float32 2x3"));
  EXPECT_THAT(session->bind(std::vector{right.view(), flat.view()}).error().message,
              HasSubstr("float32 6, the program"));
}

TEST_F(ExecutorchEngineTest, KeepsMutableStateUntilItIsReset) {
  auto session = load("counter").value();
  const std::vector<Tensor> zero = {Tensor::zeros(Dtype::kFloat32, {1})};
  const auto next = [&] { return doubles_from_tensor(infer(*session, zero).at(0).view()).at(0); };
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 2);
  ASSERT_TRUE(session->reset_state());
  EXPECT_EQ(next(), 1);
}

TEST_F(ExecutorchEngineTest, LeavesItsCallersInputsAloneWhereTheProgramWritesToThem) {
  const auto session = load("writes_input").value();
  const auto input = tensors_named("writes_input", "in.").at(0);
  const auto expected = tensors_named("writes_input", "out.").at(0);
  const auto given = input;
  for (int inference = 0; inference < 3; ++inference) {
    ASSERT_TRUE(session->bind(std::vector{given.view()}));
    ASSERT_TRUE(session->execute());
    const auto outputs = session->fetch().value();
    EXPECT_EQ(doubles_from_tensor(outputs.back()), doubles_from_tensor(expected.view()))
        << inference;
    EXPECT_EQ(given.data, input.data) << inference;
  }
}

TEST_F(ExecutorchEngineTest, TakesWeightsFromDataFiles) {
  EXPECT_FALSE(load("external")) << "without its weights";
  auto session =
      load("external", {{"threads", 1}}, {programs() / "_default_external_constant.ptd"});
  ASSERT_TRUE(session) << session.error().message;
  expect_near(infer(**session, tensors_named("external", "in.")),
              tensors_named("external", "out."));
}

TEST_F(ExecutorchEngineTest, TellsDamagedDataFiles) {
  const auto path = folder_.path() / "x.ptd";
  ASSERT_TRUE(write_file_atomically(path, std::string(200, 'x')));
  EXPECT_EQ(load("external", {{"threads", 1}}, {path}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load("external", {{"threads", 1}}, {"/none.ptd"}).error().code, ErrorCode::kNotFound);
}

TEST_F(ExecutorchEngineTest, ReadsEffectiveOptionsBack) {
  const auto session = load("mlp_xnnpack", {{"threads", 2},
                                            {"xnnpack_workspace_sharing", "per_model"},
                                            {"xnnpack_weight_cache", true}})
                           .value();
  const auto& options = session->report().effective_options;
  EXPECT_EQ(options["threads"], 2);
  EXPECT_EQ(options["xnnpack_workspace_sharing"], "per_model");
  EXPECT_EQ(options["xnnpack_weight_cache"], true);
  EXPECT_TRUE(options.contains("flush_to_zero"));
}

TEST_F(ExecutorchEngineTest, RefusesOptionsThatMakeNoSense) {
  EXPECT_EQ(load("mlp_xnnpack", {{"threads", 0}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load("mlp_xnnpack", {{"load_mode", "carrier_pigeon"}}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(ExecutorchEngineTest, NamesTheMissingBackendAndTheRegisteredOnes) {
  const auto loaded =
      engine_.load({.entry = damaged("mlp_xnnpack", "XnnpackBackend", "XnnpackBackenX")});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(loaded.error().message, HasSubstr("'XnnpackBackenX'"));
  EXPECT_THAT(loaded.error().message, HasSubstr("registered: XnnpackBackend"));
}

TEST_F(ExecutorchEngineTest, NamesTheMissingOperator) {
  const auto loaded = engine_.load({.entry = damaged("add_portable", "aten::add", "aten::adx")});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(loaded.error().message, HasSubstr("(0x14)"));
  EXPECT_EQ(loaded.error().engine_code, "0x14");
  EXPECT_THAT(loaded.error().message, HasSubstr("no kernel is registered for aten::adx.out"));
}

TEST_F(ExecutorchEngineTest, ListsMethodsWhenOneIsMissing) {
  const auto loaded = engine_.load({.entry = programs() / "add_portable.pte", .method = "predict"});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(loaded.error().message, HasSubstr("forward"));
}

TEST_F(ExecutorchEngineTest, TellsTruncatedAndForeignFiles) {
  const auto bytes = read_file(programs() / "mlp_xnnpack.pte").value();
  const auto path = folder_.path() / "cut.pte";
  ASSERT_TRUE(write_file_atomically(path, bytes.substr(0, bytes.size() - 200)));
  EXPECT_EQ(engine_.load({.entry = path}).error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(engine_.load({.entry = path}).error().message, HasSubstr("truncated"));
  ASSERT_TRUE(write_file_atomically(path, std::string(500, '\0')));
  EXPECT_EQ(engine_.load({.entry = path}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(engine_.load({.entry = "/none.pte"}).error().code, ErrorCode::kNotFound);
}

TEST_F(ExecutorchEngineTest, SaysWhyALibraryDoesNotLoad) {
  const auto path = folder_.path() / "lib.so";
  ASSERT_TRUE(write_file_atomically(path, "no library"));
  const LoadRequest request{.entry = programs() / "add_portable.pte", .libraries = {path}};
  EXPECT_EQ(engine_.load(request).error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(engine_.load(request).error().message, HasSubstr(path.string()));
}

TEST_F(ExecutorchEngineTest, ProfilesOperatorsOnceEach) {
  auto session = load("mlp_portable").value();
  auto* profiler = find_extension<Profiler>(*session);
  ASSERT_NE(profiler, nullptr);
  const auto inputs = tensors_named("mlp_portable", "in.");
  ASSERT_TRUE(profiler->start());
  const auto profiled = infer(*session, inputs);
  infer(*session, inputs);
  const auto report = profiler->stop(2).value();
  expect_near(profiled, tensors_named("mlp_portable", "out."));

  std::int64_t method_ns = 0;
  std::int64_t operators_ns = 0;
  std::vector<std::string> operators;
  for (const auto& event : report.events) {
    EXPECT_EQ(event.count, 2) << event.name;
    (event.kind == "method" ? method_ns : operators_ns) += event.total_ns;
    if (event.kind == "operator") {
      operators.push_back(event.name);
      EXPECT_GE(event.instruction, 0);
    }
  }
  EXPECT_THAT(operators, Contains("relu.out"));
  EXPECT_LE(operators_ns, method_ns) << "nothing is counted twice";
  EXPECT_GT(report.method_median_ns, 0);
}

TEST_F(ExecutorchEngineTest, ProfilesInsideADelegate) {
  auto session = load("mlp_xnnpack").value();
  auto* profiler = find_extension<Profiler>(*session);
  const auto inputs = tensors_named("mlp_xnnpack", "in.");
  ASSERT_TRUE(profiler->start());
  infer(*session, inputs);
  const auto report = profiler->stop(1).value();
  std::vector<std::string> kinds;
  for (const auto& event : report.events) {
    kinds.push_back(event.kind);
    if (event.kind == "delegate") {
      EXPECT_EQ(event.name, "XnnpackBackend");
    }
  }
  EXPECT_THAT(kinds, testing::IsSupersetOf({"method", "delegate", "delegate_operator"}));
  EXPECT_THAT(report.notes, Contains(HasSubstr("microseconds")));
}

TEST_F(ExecutorchEngineTest, WritesAnEtdumpWhenAsked) {
  const auto path = folder_.path() / "x.etdump";
  auto session = load("mlp_portable", {{"etdump", path.string()}}).value();
  auto* profiler = find_extension<Profiler>(*session);
  const auto inputs = tensors_named("mlp_portable", "in.");
  const std::vector<TensorView> views = {inputs[0].view()};
  ASSERT_TRUE(profiler->start());
  ASSERT_TRUE(session->bind(views));
  ASSERT_TRUE(session->execute());
  ASSERT_TRUE(profiler->stop(1));
  EXPECT_THAT(read_file(path).value(), HasSubstr("ED00"));
}

TEST_F(ExecutorchEngineTest, DeclaresItsMemory) {
  auto session = load("mlp_portable").value();
  infer(*session, tensors_named("mlp_portable", "in."));
  auto* teller = find_extension<MemoryReporter>(*session);
  ASSERT_NE(teller, nullptr);
  std::vector<std::string> names;
  std::int64_t total = 0;
  for (const auto& part : teller->declared_memory()) {
    names.push_back(part.name);
    total += part.bytes;
  }
  EXPECT_THAT(names, ElementsAre("planned_arenas", "method_allocator", "temp_allocator_peak",
                                 "program_and_constants"));
  EXPECT_GT(total, 1000);
}

TEST_F(ExecutorchEngineTest, DescribesItself) {
  const auto description = engine_.describe().value();
  EXPECT_EQ(description.name, "executorch");
  EXPECT_THAT(description.version, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(description.build_id, SizeIs(64));
  EXPECT_THAT(description.formats, ElementsAre("pte"));
  ASSERT_THAT(description.backends, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(load("mlp_xnnpack").value()->report().notes, Contains(HasSubstr("profiler")));
}

}  // namespace
}  // namespace assay::et
