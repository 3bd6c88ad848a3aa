#include "fixedpoint/kernels.h"

#include "fixedpoint/operations.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace fixedpoint {
namespace {

constexpr std::int64_t kChunk = 256;
/// Added and taken away again, it leaves a float32 below 2^22 rounded half to even.
constexpr float kRounder = 12582912.0F;

int quantize_one(float x, const Boundary& op, float least, float most) {
  float value = x * op.factor;
  value = value > least ? value : least;  // NaN, too
  value = value < most ? value : most;
  const float rounded = (value + kRounder) - kRounder;
  return static_cast<int>(rounded) + op.zero_point;
}

/// Turns `count` neighbours of one type into neighbours of another.
struct QuantizeRun {
  const Boundary& op;
  template <class T>
  void operator()(const float* in, std::int64_t count, T* out) const {
    const auto least = static_cast<float>(op.low - op.zero_point);
    const auto most = static_cast<float>(op.high - op.zero_point);
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<T>(quantize_one(in[i], op, least, most));
    }
  }
};

/// Run of the kernel of an instruction set.
struct QuantizePixelsRun {
  const Boundary& op;
  QuantizePixels pixels;
  void operator()(const float* in, std::int64_t count, std::int8_t* out) const {
    pixels(op, in, count, 1, 0, out);
  }
  void interleave(const float* in, std::int64_t count, std::int64_t values, std::int64_t stride,
                  std::int8_t* out) const {
    pixels(op, in, count, values, stride, out);
  }
};

struct DequantizeRun {
  const Boundary& op;
  template <class T>
  void operator()(const T* in, std::int64_t count, float* out) const {
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<float>(in[i] - op.zero_point) * op.factor;
    }
  }
};

struct CopyRun {
  template <class T>
  void operator()(const T* in, std::int64_t count, T* out) const {
    std::memcpy(out, in, count * sizeof(T));
  }
};

/// Few channels that lie far apart, to neighbours: (count, channels) of strides (1, stride).
template <class In, class Out, class Run>
void interleave(const In* in, std::int64_t count, std::int64_t channels, std::int64_t stride,
                Out* out, const Run& run) {
  std::array<Out, kChunk> made;
  for (std::int64_t start = 0; start < count; start += kChunk) {
    const std::int64_t some = count - start < kChunk ? count - start : kChunk;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      run(in + channel * stride + start, some, made.data());
      Out* place = out + start * channels + channel;
      for (std::int64_t i = 0; i < some; ++i) {
        place[i * channels] = made[i];
      }
    }
  }
}

/// Reads the dimensions from `dim` on; returns where the next output goes.
template <class In, class Out, class Run>
Out* walk(const Copy& op, int dim, const In* in, Out* out, const Run& run) {
  const std::int64_t count = op.dims[dim];
  const std::int64_t stride = op.strides[dim];
  const int left = op.rank - dim;
  if (left == 2 && stride == 1 && op.dims[dim + 1] <= kMostPixelValues) {
    const std::int64_t values = op.dims[dim + 1];
    if constexpr (requires { &Run::interleave; }) {
      run.interleave(in, count, values, op.strides[dim + 1], out);
    } else {
      interleave(in, count, values, op.strides[dim + 1], out, run);
    }
    return out + count * values;
  }
  if (left > 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      out = walk(op, dim + 1, in + i * stride, out, run);
    }
    return out;
  }
  if (stride == 1) {
    run(in, count, out);
    return out + count;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    run(in + i * stride, 1, out++);
  }
  return out;
}

template <class T>
void copy_elements(const Copy& op, const T* in, T* out) {
  if (op.rank == 1 && op.strides[0] == 1 && in + op.offset == out) {
    return;
  }
  walk(op, 0, in + op.offset, out, CopyRun());
}

}  // namespace

const std::vector<const Kernels*>& all_kernels() {
#if defined(__x86_64__)
  static const std::vector<const Kernels*> all = {
      &amx_kernels(), &avx512_kernels(), &avxvnni_kernels(), &avx2_kernels(), &scalar_kernels()};
#elif defined(__aarch64__)
  static const std::vector<const Kernels*> all = {&neon_dot_kernels(), &neon_kernels(),
                                                  &scalar_kernels()};
#else
  static const std::vector<const Kernels*> all = {&scalar_kernels()};
#endif
  return all;
}

const Kernels* find_kernels(std::string_view isa) {
  for (const auto* kernels : all_kernels()) {
    if ((isa.empty() || kernels->isa == isa) && kernels->is_supported()) {
      return kernels;
    }
  }
  return nullptr;
}

void copy(const Copy& op, const std::int8_t* in, std::int8_t* out) { copy_elements(op, in, out); }

void copy(const Copy& op, const std::int16_t* in, std::int16_t* out) { copy_elements(op, in, out); }

void quantize_pixels(const Boundary& op, const float* in, std::int64_t count, std::int64_t values,
                     std::int64_t stride, std::int8_t* out) {
  if (values == 1) {
    QuantizeRun{op}(in, count, out);
  } else {
    interleave(in, count, values, stride, out, QuantizeRun{op});
  }
}

void quantize(const Boundary& op, const float* in, std::int8_t* out, QuantizePixels pixels) {
  walk(op.read, 0, in + op.read.offset, out, QuantizePixelsRun{op, pixels});
}

void quantize(const Boundary& op, const float* in, std::int16_t* out) {
  walk(op.read, 0, in + op.read.offset, out, QuantizeRun{op});
}

void dequantize(const Boundary& op, const std::int8_t* in, float* out) {
  walk(op.read, 0, in + op.read.offset, out, DequantizeRun{op});
}

void dequantize(const Boundary& op, const std::int16_t* in, float* out) {
  walk(op.read, 0, in + op.read.offset, out, DequantizeRun{op});
}

}  // namespace fixedpoint
