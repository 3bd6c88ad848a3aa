#include "assay/engines/fake/fake_engine.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <malloc.h>
#include <unistd.h>

#include "assay/base/fs.h"

namespace assay::fake {
namespace {

using testing::ElementsAre;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::IsNan;
using testing::KilledBySignal;

constexpr const char* kVector4 =
    R"("inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}],
       "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 6]}])";

class FakeEngineTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Session>> load(const std::string& rest, Json options = Json::object()) {
    return load_text("{" + std::string(kVector4) + (rest.empty() ? "" : ", " + rest) + "}",
                     std::move(options));
  }
  Result<std::unique_ptr<Session>> load_text(const std::string& text,
                                             Json options = Json::object()) {
    const auto path = folder_.path() / "m.fake.json";
    std::ofstream(path) << text;
    return engine_.load({.entry = path, .options = std::move(options)});
  }

  TemporaryFolder folder_ = TemporaryFolder::make("fake").value();
  FakeEngine engine_;
};

Tensor tensor_of(const std::vector<float>& values) {
  Tensor tensor = Tensor::zeros(Dtype::kFloat32, {1, static_cast<std::int64_t>(values.size())});
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

std::vector<double> infer(Session& session, const Tensor& input) {
  EXPECT_TRUE(session.bind(std::vector{input.view()}));
  EXPECT_TRUE(session.execute());
  return doubles_from_tensor(session.fetch().value().front());
}

TEST_F(FakeEngineTest, BreaksOneOutputAsAKernelWould) {
  const auto broken = [this](const char* fault) {
    auto session =
        load(std::string(R"("faults": [{"output": 0, "do": ")") + fault + "\"}]").value();
    infer(*session, tensor_of({1, 2, NAN, 4}));
    return infer(*session, tensor_of({5, 6, NAN, 8}));
  };
  EXPECT_THAT(broken("zero"), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(broken("nan_to_zero"), ElementsAre(5, 6, 0, 8, 5, 6));
  EXPECT_THAT(broken("one_element"), ElementsAre(5, 6, IsNan(), 8, 5, 7));
  EXPECT_THAT(broken("swapped"), ElementsAre(6, 5, IsNan(), 8, 5, 6));
  EXPECT_THAT(broken("stale"), ElementsAre(1, 2, IsNan(), 4, 1, 2));
  EXPECT_THAT(broken("negated"), ElementsAre(-5, -6, IsNan(), -8, -5, -6));
  EXPECT_EQ(load(R"("faults": [{"output": 1, "do": "zero"}])").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load(R"("faults": [{"output": 0, "do": "rot"}])").error().code, ErrorCode::kCorrupt);
}

TEST_F(FakeEngineTest, AppliesTheAffineRuleAndRepeatsTheInputToFillTheOutput) {
  auto session = load(R"("output": {"rule": "affine", "a": 2, "b": 1})").value();
  EXPECT_THAT(infer(*session, tensor_of({1, 2, 3, 4})), ElementsAre(3, 5, 7, 9, 3, 5));
}

TEST_F(FakeEngineTest, AddsWhatIsWrong) {
  auto session = load(R"("output": {"rule": "constant", "b": 3}, "wrong": 0.5)").value();
  EXPECT_THAT(infer(*session, tensor_of({1, 2, 3, 4})), testing::Each(3.5));
}

TEST_F(FakeEngineTest, RandomRuleGivesOtherNumbersEachTime) {
  auto session = load(R"("output": {"rule": "random"})").value();
  const auto input = tensor_of({1, 2, 3, 4});
  EXPECT_NE(infer(*session, input), infer(*session, input));
}

TEST_F(FakeEngineTest, ComputesInEveryDtypeItOffers) {
  for (const char* dtype : {"float64", "float32", "int64", "int32", "int16", "int8", "uint8",
                            "uint16", "uint32", "uint64", "bool"}) {
    auto session = load_text(R"({"outputs": [{"dtype": ")" + std::string(dtype) +
                             R"(", "shape": [2]}], "output": {"rule": "constant", "b": 1}})");
    ASSERT_TRUE(session) << dtype << session.error().message;
    ASSERT_TRUE((*session)->execute());
    EXPECT_THAT(doubles_from_tensor((*session)->fetch().value().front()), ElementsAre(1, 1))
        << dtype;
  }
}

TEST_F(FakeEngineTest, RefusesAShapeThatCannotBeCounted) {
  const auto session = load_text(R"({"outputs": [{"shape": [4294967296, 4294967296]}]})");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::kCorrupt);
}

TEST_F(FakeEngineTest, RefusesInputsThatDoNotFitNamingBoth) {
  auto session = load("").value();
  const auto wide = Tensor::zeros(Dtype::kFloat32, {1, 5});
  const auto bound = session->bind(std::vector{wide.view()});
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(bound.error().message, HasSubstr("float32 1x5, the program takes float32 1x4"));
  EXPECT_THAT(session->bind({}).error().message, HasSubstr("0 inputs are given"));
}

TEST_F(FakeEngineTest, ReportsEffectiveOptionsNotRequestedOnes) {
  auto session = load("", {{"threads", 9}}).value();
  EXPECT_EQ(session->report().effective_options, Json({{"threads", 4}, {"mode", "fast"}}));
}

TEST_F(FakeEngineTest, RefusesUnknownMethodsOptionsAndMissingBackends) {
  EXPECT_EQ(engine_.load({.entry = "x", .method = "predict"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(load("", {{"thread", 1}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load("", {{"threads", 0}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load(R"("delegates": ["fakenpu"])").error().code, ErrorCode::kUnavailable);
}

TEST_F(FakeEngineTest, TellsDamagedProgramsFromAbsentAndUnsupportedOnes) {
  EXPECT_EQ(load_text("{\"inputs\": [").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load_text(R"({"inputs": 7})").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load_text(R"({"output": {"rule": "quadratic"}})").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(load_text(R"({"inputs": [{"dtype": "float16"}]})").error().code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(engine_.load({.entry = folder_.path() / "none"}).error().code, ErrorCode::kNotFound);
}

TEST_F(FakeEngineTest, SlowModeTakesTenTimesAsLong) {
  auto session = load(R"("execute_ns": 300000)", {{"mode", "slow"}}).value();
  auto* profiler = find_extension<Profiler>(*session);
  ASSERT_NE(profiler, nullptr);
  ASSERT_TRUE(profiler->start());
  infer(*session, tensor_of({1, 2, 3, 4}));
  const auto report = profiler->stop(1).value();
  EXPECT_GE(report.method_median_ns, 3'000'000);
}

TEST_F(FakeEngineTest, ProfilesOnlyBetweenStartAndStop) {
  auto session = load(R"("delegates": ["fakexla"])").value();
  auto* profiler = find_extension<Profiler>(*session);
  infer(*session, tensor_of({1, 2, 3, 4}));
  ASSERT_TRUE(profiler->start());
  infer(*session, tensor_of({1, 2, 3, 4}));
  infer(*session, tensor_of({1, 2, 3, 4}));
  const auto report = profiler->stop(2).value();
  ASSERT_EQ(report.events.size(), 2U);
  EXPECT_EQ(report.events[0].count, 2);
  EXPECT_EQ(report.events[1].name, "fakexla");
  EXPECT_EQ(report.events[1].kind, "delegate");
}

TEST_F(FakeEngineTest, TellsItsDeclaredMemory) {
  auto session = load(R"("declared_memory": [{"name": "arena", "bytes": 100}])").value();
  const auto declared = find_extension<MemoryReporter>(*session)->declared_memory();
  ASSERT_EQ(declared.size(), 1U);
  EXPECT_EQ(declared.front().bytes, 100);
}

TEST_F(FakeEngineTest, FailsAtTheMomentAndWithTheCodeOrdered) {
  const auto input = tensor_of({1, 2, 3, 4});
  auto first = load(R"("misbehave": {"at": "first", "do": "error", "code": "exhausted"})").value();
  EXPECT_EQ(first->execute().error().code, ErrorCode::kExhausted);

  auto steady = load(R"("misbehave": {"at": "steady", "do": "error", "after": 2})").value();
  infer(*steady, input);
  infer(*steady, input);
  EXPECT_EQ(steady->execute().error().code, ErrorCode::kEngine);

  auto fetch = load(R"("misbehave": {"at": "fetch", "do": "throw"})").value();
  ASSERT_TRUE(fetch->execute());
  EXPECT_THROW((void)fetch->fetch(), std::runtime_error);

  EXPECT_FALSE(load(R"("misbehave": {"at": "load", "do": "error"})"));
}

TEST_F(FakeEngineTest, RefusesOrdersItDoesNotKnow) {
  EXPECT_THAT(load(R"("misbehave": {"at": "load", "do": "explode"})").error().message,
              HasSubstr("eat_memory"));
}

#if !defined(__SANITIZE_ADDRESS__)  // whose heap mallinfo2 does not know
TEST_F(FakeEngineTest, LeaksAtEveryExecute) {
  auto session = load(R"("leak_bytes": 50000)").value();
  const auto before = ::mallinfo2().uordblks;
  ASSERT_TRUE(session->execute());
  ASSERT_TRUE(session->execute());
  EXPECT_GE(::mallinfo2().uordblks - before, 100'000U);
}
#endif

/// Deaths need a process of their own.
using FakeEngineDeathTest = FakeEngineTest;

TEST_F(FakeEngineDeathTest, DiesAsOrdered) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto die = [this](std::string_view deed) {
    auto session = load(R"("misbehave": {"at": "first", "do": ")" + std::string(deed) + "\"}");
    [[maybe_unused]] const auto status = (*session)->execute();
    std::_Exit(77);
  };
  EXPECT_EXIT(die("segfault"), KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(die("abort"), KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(die("kill"), KilledBySignal(SIGKILL), "");
#if !defined(__SANITIZE_ADDRESS__)  // which exits instead
  EXPECT_EXIT(die("stack_overflow"), KilledBySignal(SIGSEGV), "");
#endif
  EXPECT_EXIT(die("exit0"), ExitedWithCode(0), "");
  EXPECT_EXIT(die("exit3"), ExitedWithCode(3), "");
}

TEST_F(FakeEngineTest, DescribesWhatItTakes) {
  const auto description = engine_.describe().value();
  EXPECT_EQ(description.name, "fake");
  EXPECT_THAT(description.formats, ElementsAre("fake"));
  EXPECT_EQ(description.options.size(), 2U);
}

}  // namespace
}  // namespace assay::fake
