#pragma once

#include <string_view>

namespace assay {

/// The triple that this code was compiled for, from the compiler's own macros.
#if defined(__x86_64__)
#define ASSAY_TARGET_CPU "x86_64"
#elif defined(__aarch64__)
#define ASSAY_TARGET_CPU "aarch64"
#elif defined(__riscv)
#define ASSAY_TARGET_CPU "riscv64"
#else
#define ASSAY_TARGET_CPU "unknown"
#endif

#if defined(__ANDROID__)
inline constexpr std::string_view kTargetTriple = ASSAY_TARGET_CPU "-linux-android";
#elif defined(__APPLE__)
inline constexpr std::string_view kTargetTriple = ASSAY_TARGET_CPU "-apple-darwin";
#elif defined(__linux__)
inline constexpr std::string_view kTargetTriple = ASSAY_TARGET_CPU "-linux-gnu";
#else
inline constexpr std::string_view kTargetTriple = ASSAY_TARGET_CPU "-unknown";
#endif
#undef ASSAY_TARGET_CPU

}  // namespace assay
