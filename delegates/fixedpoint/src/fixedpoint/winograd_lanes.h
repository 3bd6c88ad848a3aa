#pragma once

#include <cstdint>
#include <cstring>

/// Lanes of any processor; in an unnamed namespace, since each file that includes this may be
/// compiled for another one.
namespace fixedpoint {
namespace {  // NOLINT(google-build-namespaces): one copy for each instruction set

/// Vectors of 16 bytes: activations or weights in 16 bits.
struct EightLanes {
  static constexpr int kCount = 8;
  // Clang and GCC take the attribute in a typedef.
  typedef std::int8_t Bytes __attribute__((vector_size(8)));    // NOLINT(modernize-use-using)
  typedef std::int16_t Words __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)

  [[gnu::always_inline]] static Words load(const std::int8_t* in) {
    Bytes bytes;
    std::memcpy(&bytes, in, sizeof bytes);
    return __builtin_convertvector(bytes, Words);
  }
};

}  // namespace
}  // namespace fixedpoint
