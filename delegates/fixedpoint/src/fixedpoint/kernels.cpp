#include "fixedpoint/kernels.h"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace fixedpoint {
namespace {

/// Copies the dimensions from `dim` on; returns where the next output goes.
std::int8_t* copy_dimension(const Copy& op, int dim, const std::int8_t* in, std::int8_t* out) {
  const std::int64_t stride = op.strides[dim];
  if (dim + 1 < op.rank) {
    for (std::int64_t i = 0; i < op.dims[dim]; ++i) {
      out = copy_dimension(op, dim + 1, in + i * stride, out);
    }
    return out;
  }
  if (stride == 1) {
    std::memcpy(out, in, op.dims[dim]);
    return out + op.dims[dim];
  }
  for (std::int64_t i = 0; i < op.dims[dim]; ++i) {
    *out++ = in[i * stride];
  }
  return out;
}

}  // namespace

const std::vector<const Kernels*>& all_kernels() {
#if defined(__x86_64__)
  static const std::vector<const Kernels*> kAll = {&avx512_kernels(), &avx2_kernels(),
                                                   &scalar_kernels()};
#else
  static const std::vector<const Kernels*> kAll = {&scalar_kernels()};
#endif
  return kAll;
}

const Kernels* find_kernels(std::string_view isa) {
  for (const auto* kernels : all_kernels()) {
    if ((isa.empty() || kernels->isa == isa) && kernels->is_supported()) {
      return kernels;
    }
  }
  return nullptr;
}

void copy(const Copy& op, const std::int8_t* in, std::int8_t* out) {
  if (op.rank == 1 && op.strides[0] == 1 && in + op.offset == out) {
    return;
  }
  copy_dimension(op, 0, in + op.offset, out);
}

}  // namespace fixedpoint
