#pragma once

#include <string_view>

namespace fixedpoint::bench {

/// Cycles of this core in a second, by a chain of additions that takes one cycle each. About 50 ms.
double measure_frequency();

/// The most MACs of int8 in a cycle that the instructions of `isa` reach here without reading
/// memory: vpmaddwd and vpaddd for avx2, vpdpbusd for avxvnni and avx512vnni, tdpbssd for
/// avx512amx. About 50 ms. Zero for a set that has no such loop.
double measure_peak(std::string_view isa, double frequency);

}  // namespace fixedpoint::bench
