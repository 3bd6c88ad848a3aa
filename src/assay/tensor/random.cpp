// Compiled with -ffp-contract=off: a fused multiply-add would round differently from machine to
// machine. Only +, -, *, / and sqrt are used, which IEEE 754 rounds correctly; libm's log is not.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

#include "assay/tensor/dtype.h"
#include "assay/tensor/small_float.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

/// SplitMix64: the n-th number is a hash of seed and n, so that numpy can make it without a loop.
/// Source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// Uniform in [-1, 1), a multiple of 2^-52.
  double next_signed_unit() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1.0; }

  /// Uniform in [0, bound): the upper half of a product, so a bias of at most bound / 2^32.
  std::uint64_t next_below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }

 private:
  std::uint64_t state_;
};

/// Natural logarithm for x > 0 by the series of atanh; relative error below 1e-15.
double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 1 / std::numbers::sqrt2) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double s2 = s * s;
  constexpr int kLastPower = 25;
  double sum = 0;
  for (int power = kLastPower; power >= 1; power -= 2) {
    sum = sum * s2 + 1.0 / power;
  }
  return 2 * s * sum + exponent * std::numbers::ln2;
}

/// Standard normal numbers by the polar method, two from each accepted pair.
/// Source: Marsaglia, Bray, A Convenient Method for Generating Normal Variables, SIAM Rev. 6, 1964.
class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed) : source_(seed) {}

  double next() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u = 0;
    double v = 0;
    double square = 0;
    do {
      u = source_.next_signed_unit();
      v = source_.next_signed_unit();
      square = u * u + v * v;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * portable_log(square) / square);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }

 private:
  SplitMix64 source_;
  double spare_ = 0;
  bool has_spare_ = false;
};

template <class Stored, class Make>
void fill(std::vector<std::byte>& data, Make make) {
  for (std::size_t at = 0; at + sizeof(Stored) <= data.size(); at += sizeof(Stored)) {
    const Stored stored = make();
    std::memcpy(data.data() + at, &stored, sizeof(Stored));
  }
}

void fill_normal(Tensor& tensor, std::uint64_t seed) {
  NormalSource normal(seed);
  switch (tensor.dtype) {
    case Dtype::kFloat64:
      return fill<double>(tensor.data, [&] { return normal.next(); });
    case Dtype::kFloat32:
      return fill<float>(tensor.data, [&] { return static_cast<float>(normal.next()); });
    case Dtype::kFloat16:
      return fill<std::uint16_t>(tensor.data, [&] { return float16_from_double(normal.next()); });
    default:
      return fill<std::uint16_t>(tensor.data, [&] { return bfloat16_from_double(normal.next()); });
  }
}

void fill_integers(Tensor& tensor, std::uint64_t seed) {
  constexpr std::uint64_t kIntegerBound = 10;
  SplitMix64 source(seed);
  const std::uint64_t bound = tensor.dtype == Dtype::kBool ? 2 : kIntegerBound;
  const auto make = [&]<class Stored>(Stored) {
    fill<Stored>(tensor.data, [&] { return static_cast<Stored>(source.next_below(bound)); });
  };
  switch (size_of_dtype(tensor.dtype)) {
    case sizeof(std::uint64_t):
      return make(std::uint64_t{});
    case sizeof(std::uint32_t):
      return make(std::uint32_t{});
    case sizeof(std::uint16_t):
      return make(std::uint16_t{});
    default:
      return make(std::uint8_t{});
  }
}

}  // namespace

Tensor random_tensor(const TensorSpec& spec, std::uint64_t seed) {
  auto tensor = Tensor::zeros(spec.dtype, spec.shape);
  if (is_floating(spec.dtype)) {
    fill_normal(tensor, seed);
  } else {
    fill_integers(tensor, seed);
  }
  return tensor;
}

}  // namespace assay
