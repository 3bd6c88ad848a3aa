#include "features/reduce/call_arguments.h"
#include "features/reduce/call_dimensions.h"
#include "features/reduce/call_size.h"
#include "features/reduce/call_tensors.h"
#include "features/reduce/call_values.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

Json tensor(const std::vector<int>& shape, const std::string& dtype = "float32") {
  return {{"shape", shape}, {"dtype", dtype}};
}

Json call_of(const Json& args, const Json& kwargs = Json::object()) {
  return {{"args", args}, {"kwargs", kwargs}, {"values", "normal"}};
}

std::vector<Json> calls_of(const std::vector<CallChange>& changes) {
  std::vector<Json> calls;
  for (const auto& change : changes) {
    EXPECT_FALSE(change.what.empty());
    calls.push_back(change.call);
  }
  return calls;
}

TEST(CallTensors, AnExtentIsCutWhereverItStands) {
  const auto call = call_of({tensor({2, 6}), tensor({6, 3}), {6, 1}});
  const auto calls = calls_of(smaller_shapes(call));
  EXPECT_THAT(calls, Contains(call_of({tensor({2, 3}), tensor({3, 3}), {6, 1}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({2, 3}), tensor({3, 3}), {3, 1}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({2, 1}), tensor({1, 3}), {6, 1}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({2, 6}), tensor({5, 3}), {6, 1}})));  // One alone.
}

TEST(CallTensors, ACutKeepsTheValuesOfWhatItKeeps) {
  auto given = tensor({2, 3});
  given["data"] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(sliced(given, 0, 1, 2)["data"], Json({4, 5, 6}));
  EXPECT_EQ(sliced(given, 1, 1, 3)["data"], Json({2, 3, 5, 6}));
  EXPECT_EQ(sliced(given, 1, 1, 3)["shape"], Json({2, 2}));
}

Json open_call() {
  auto x = tensor({1, 3});
  auto y = tensor({3, 4});
  x["open"] = {nullptr, "n"};
  y["open"] = {"n", "m"};
  auto call = call_of({x, y});
  call["dimensions"] = {{"n", {3, 11}}, {"m", {2, 4}}};
  return call;
}

TEST(CallDimensions, SizesAreClosedOrLeftOpenLessFar) {
  const auto call = open_call();
  const auto changes = fewer_open_sizes(call);
  const auto calls = calls_of(changes);
  EXPECT_THAT(calls, Contains(call_of({tensor({1, 3}), tensor({3, 4})})));
  auto closed = call;
  closed["args"][0].erase("open");
  closed["args"][1]["open"] = {nullptr, "m"};
  closed["dimensions"].erase("n");
  EXPECT_THAT(calls, Contains(closed));
  auto nearer = call;
  nearer["dimensions"]["n"] = {3, 7};
  EXPECT_THAT(calls, Contains(nearer));
  EXPECT_EQ(calls.size(), 4U);  // m is written with its largest size.
  for (const auto& one : calls) {
    EXPECT_LT(size_of_call(one, 3), size_of_call(call, 3));
  }
  EXPECT_THAT(fewer_open_sizes(call_of({tensor({2})})), IsEmpty());
}

TEST(CallDimensions, OfADroppedSizeGoWithIt) {
  auto call = open_call();
  for (const auto& one : smaller_shapes(call)) {
    for (const auto& path : tensors_of_call(one.call)) {
      const auto& given = one.call.at(path);
      EXPECT_EQ(given.at("open").size(), given.at("shape").size()) << one.what;
    }
  }
}

TEST(CallTensors, SizesOfOneGo) {
  const auto calls = calls_of(smaller_shapes(call_of({tensor({1, 3}), tensor({1, 1})})));
  EXPECT_THAT(calls, Contains(call_of({tensor({3}), tensor({1})})));
  EXPECT_THAT(calls, Contains(call_of({tensor({3}), tensor({1, 1})})));
}

TEST(CallTensors, EveryElementIsWrittenExactly) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {0.1, -0.0, inf, std::nan(""), 3e38};
  const auto drawn = tensor_from_doubles(values, {5}, Dtype::kFloat32);
  auto constant = tensor({2});
  constant["constant"] = true;
  auto odd = tensor({5});
  odd["low"] = 0;
  const auto changes = with_data(call_of({constant, odd}), {drawn});
  ASSERT_EQ(changes.size(), 1U);
  const auto& data = changes.front().call["args"][1]["data"];
  EXPECT_EQ(data.dump(), R"([0.1,-0.0,{"number":"inf"},{"number":"nan"},3e+38])");
  EXPECT_FALSE(changes.front().call["args"][1].contains("low"));
  EXPECT_EQ(changes.front().call["args"][0], constant);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(static_cast<float>(data[i].get<double>()), doubles_from_tensor(drawn.view())[i]);
  }
}

TEST(CallTensors, DenormalNumbersAreWrittenToo) {
  const double denormal = std::numeric_limits<double>::denorm_min();
  const auto drawn = tensor_from_doubles(std::vector{denormal}, {1}, Dtype::kFloat64);
  const auto changes = with_data(call_of(Json::array({tensor({1}, "float64")})), {drawn});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().call["args"][0]["data"][0].get<double>(), denormal);
}

TEST(CallTensors, WhatJsonHasNoNumberForIsNotWritten) {
  Tensor large = Tensor::zeros(Dtype::kInt64, {1});
  const auto value = std::numeric_limits<std::int64_t>::max();
  std::memcpy(large.data.data(), &value, sizeof(value));
  EXPECT_THAT(with_data(call_of({tensor({1}, "int64")}), {large}), IsEmpty());
  EXPECT_THAT(with_data(call_of({tensor({2}, "int64")}), {large}), IsEmpty());
}

TEST(CallTensors, ATypeChangesInTensorsAndArguments) {
  const auto calls = calls_of(plainer_tensors(
      call_of({tensor({1}, "float16"), tensor({1}, "int8")}, {{"dtype", {{"torch", "float16"}}}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), tensor({1}, "int8")},
                                      {{"dtype", {{"torch", "float32"}}}})));
}

TEST(CallArguments, GoOrBecomePlain) {
  const auto call = call_of({tensor({1}), {3, 3}, 4, true, 2.5}, {{"alpha", 2}});
  const auto calls = calls_of(fewer_arguments(call));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), {3, 3}, 4, true, 2.5})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), {3, 3}, 4, true}, {{"alpha", 2}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), {3}, 4, true, 2.5}, {{"alpha", 2}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), {3, 1}, 4, true, 2.5}, {{"alpha", 2}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), nullptr, 4, true, 2.5}, {{"alpha", 2}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), {3, 3}, 2, true, 2.5}, {{"alpha", 2}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), {3, 3}, 4, false, 2.5}, {{"alpha", 2}})));
  EXPECT_THAT(calls, Contains(call_of({tensor({1}), {3, 3}, 4, true, 0}, {{"alpha", 2}})));
  EXPECT_THAT(calls, Not(Contains(call)));
}

TEST(CallArguments, OfAnySizeBecomeSmaller) {
  for (const auto number : {std::int64_t{1} << 32, std::numeric_limits<std::int64_t>::max(),
                            std::numeric_limits<std::int64_t>::min()}) {
    const auto calls = calls_of(fewer_arguments(call_of({tensor({1}), number})));
    EXPECT_THAT(calls, Contains(call_of({tensor({1}), 0}))) << number;
    EXPECT_THAT(calls, Contains(call_of({tensor({1}), number / 2}))) << number;
  }
}

TEST(CallValues, BecomeZerosOnesAndShortNumbers) {
  auto given = tensor({3});
  given["data"] = {0.123456, 1, {{"number", "nan"}}};
  const auto put = [&](const Json& data) {
    auto changed = given;
    changed["data"] = data;
    return call_of({changed});
  };
  const auto calls = calls_of(simpler_values(call_of({given})));
  EXPECT_THAT(calls, Contains(put({0, 1, 0})));
  EXPECT_THAT(calls, Contains(put({1, 1, {{"number", "nan"}}})));
  EXPECT_THAT(calls, Contains(put({0.123456, 1, 0})));
  EXPECT_THAT(calls, Contains(put({0.12, 1, {{"number", "nan"}}})));
}

TEST(CallValues, AtTheEndsOfDoubleAreShortenedOrLeft) {
  auto given = tensor({2}, "float64");
  given["data"] = {std::numeric_limits<double>::max(), 2.225e-308 / 3};
  for (const auto& call : calls_of(simpler_values(call_of(Json::array({given}))))) {
    EXPECT_TRUE(std::isfinite(call["args"][0]["data"][0].get<double>()));
  }
}

TEST(CallSize, FallsWithEverythingThatIsMadeSimpler) {
  auto odd = tensor({2, 4}, "float16");
  odd["layout"] = "transposed";
  auto written = tensor({4});
  written["data"] = {0.5, 0.25, 3, 7};
  const auto call = call_of({odd, written, {3, 3}, 4, 2.5}, {{"alpha", 2}});
  const auto size = size_of_call(call, 1);
  EXPECT_LT(size, size_of_call(call, 2));
  for (auto* changes_of : {smaller_shapes, plainer_tensors, fewer_arguments, simpler_values}) {
    const auto changes = changes_of(call);
    EXPECT_FALSE(changes.empty());
    for (const auto& change : changes) {
      EXPECT_LT(size_of_call(change.call, 1), size) << change.what;
    }
  }
}

TEST(CallSize, FallsAlsoWhereThereIsNoElement) {
  const auto call = call_of({tensor({2, 0, 3})});
  const auto size = size_of_call(call, 3);
  EXPECT_LT(size_of_call(call, 1), size);
  EXPECT_LT(size_of_call(call_of({tensor({1, 0, 3})}), 3), size);
  const auto changes = smaller_shapes(call);
  EXPECT_THAT(calls_of(changes), Contains(call_of({tensor({1, 0, 3})})));
  for (const auto& change : changes) {
    EXPECT_LT(size_of_call(change.call, 3), size) << change.what;
  }
}

}  // namespace
}  // namespace assay
