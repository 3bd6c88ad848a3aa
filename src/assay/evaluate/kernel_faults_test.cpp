// Error bounds catch the faults that kernels have.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "assay/evaluate/evaluate.h"
#include "assay/evaluate/testing/judge.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

/// A wrong kernel: what it makes of the right outputs.
struct Fault {
  std::string name;
  std::function<void(BoundSamples&)> apply;
};

void change(Tensor& tensor, const std::function<double(double, std::size_t)>& change_element) {
  auto values = doubles_from_tensor(tensor.view());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = change_element(values[i], i);
  }
  tensor = tensor_from_doubles(values, tensor.shape, tensor.dtype);
}

void change_all(BoundSamples& samples, const std::function<double(double, std::size_t)>& by) {
  for (auto& sample : samples) {
    change(sample[0], by);
  }
}

void reorder(Tensor& tensor, std::size_t rows, std::size_t columns) {
  const auto values = doubles_from_tensor(tensor.view());
  std::vector<double> moved(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    moved[(i % columns) * rows + i / columns] = values[i];
  }
  tensor = tensor_from_doubles(moved, tensor.shape, tensor.dtype);
}

std::vector<Fault> faults() {
  return {
      {"zero output",
       [](BoundSamples& s) { change_all(s, [](double, std::size_t) { return 0.0; }); }},
      {"stale output",
       [](BoundSamples& s) {
         for (auto& sample : s) {
           sample = s.front();
         }
       }},
      {"swapped samples", [](BoundSamples& s) { std::swap(s[0], s[1]); }},
      {"swapped strides",
       [](BoundSamples& s) {
         for (auto& sample : s) {
           reorder(sample[0], 3, 4);
         }
       }},
      {"NaN to 0",
       [](BoundSamples& s) {
         change_all(s, [](double x, std::size_t) { return x != x ? 0.0 : x; });
       }},
      {"infinity to the largest number",
       [](BoundSamples& s) {
         change_all(s, [](double x, std::size_t) { return std::clamp(x, -3e38, 3e38); });
       }},
      {"one element one step of float16 off",
       [](BoundSamples& s) {
         change(s[2][0], [](double x, std::size_t i) { return i == 7 ? x * (1 + 1e-3) : x; });
       }},
      {"off by one place",
       [](BoundSamples& s) {
         for (auto& sample : s) {
           auto values = doubles_from_tensor(sample[0].view());
           std::ranges::rotate(values, values.begin() + 1);
           sample[0] = tensor_from_doubles(values, sample[0].shape, sample[0].dtype);
         }
       }},
      {"wrong rounding",
       [](BoundSamples& s) {
         change_all(s, [](double x, std::size_t) { return x * (1 + 5e-7); });
       }},
      {"dropped bias",
       [](BoundSamples& s) { change_all(s, [](double x, std::size_t) { return x - 1e-3; }); }},
      {"sign lost",
       [](BoundSamples& s) { change_all(s, [](double x, std::size_t) { return -x; }); }},
  };
}

/// An output of 3 x 4 with a NaN and an infinity; bounds of one step of float32.
BoundSamples kernel_outputs() {
  BoundSamples samples;
  for (int sample = 0; sample < 3; ++sample) {
    std::vector<double> values;
    for (int i = 0; i < 12; ++i) {
      values.push_back((i % 2 == 0 ? 1 : -1) * (1.0 + i) / (sample + 3.0));
    }
    values[5] = std::numeric_limits<double>::quiet_NaN();
    values[9] = std::numeric_limits<double>::infinity();
    samples.push_back({tensor_from_doubles(values, {3, 4}, Dtype::kFloat32)});
  }
  return samples;
}

BoundSamples step_bounds(const BoundSamples& outputs) {
  auto bounds = outputs;
  for (auto& sample : bounds) {
    auto values = doubles_from_tensor(sample[0].view());
    for (auto& value : values) {
      value = value - value == 0 ? std::abs(value) * 0x1p-23 : 0;
    }
    sample[0] = tensor_from_doubles(values, sample[0].shape, Dtype::kFloat64);
  }
  return bounds;
}

TEST(Faults, AreAllCaughtByErrorBounds) {
  const auto right = kernel_outputs();
  const auto bounds = step_bounds(right);
  const auto judge_it = [&](const BoundSamples& results) {
    return judge({.against = "float64", .results = results, .references = right, .bounds = bounds});
  };
  ASSERT_EQ(judge_it(right).accuracy, Accuracy::kPass) << judge_it(right).reason;
  for (const auto& fault : faults()) {
    auto results = right;
    fault.apply(results);
    EXPECT_EQ(judge_it(results).accuracy, Accuracy::kFailNumeric) << fault.name;
  }
}

TEST(Faults, OfRoundingAreSeenByBoundsOnly) {
  auto right = kernel_outputs();
  change_all(right, [](double x, std::size_t) { return x - x == 0 ? x : 1.0; });
  auto results = right;
  change_all(results, [](double x, std::size_t) { return x * (1 + 5e-7); });
  EXPECT_EQ(judge({.against = "float64", .results = results, .references = right}).accuracy,
            Accuracy::kPass);
  const auto bounds = step_bounds(right);
  EXPECT_EQ(judge({.against = "float64", .results = results, .references = right, .bounds = bounds})
                .accuracy,
            Accuracy::kFailNumeric);
}

}  // namespace
}  // namespace assay
