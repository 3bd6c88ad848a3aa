#include "work.h"

namespace {

/// Horner's rule, so that an element costs a chain of multiplications.
float polynomial(float x, const Coefficients& c) {
  float sum = c.offset;
  for (int degree = 0; degree < 8; ++degree) {
    sum = sum * x * 0.5F + c.scale;
  }
  return sum;
}

}  // namespace

void repeat(int blocks, const Coefficients& coefficients, const Vector& x, Vector& y) {
  for (int block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < kSize; ++i) {
      y[i] = polynomial(x[i], coefficients);
    }
    asm volatile("" : : "r"(y.data()) : "memory");  // The next block cannot be left out.
  }
}
