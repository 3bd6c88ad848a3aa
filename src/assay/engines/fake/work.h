#pragma once

#include <cstdint>
#include <vector>

namespace assay::fake {

/// Keeps the processor busy for so long; no time at all where `ns` is not positive.
void spin_for(std::int64_t ns);

/// Real work for an execute, so much that its instructions can be counted: what times are compared
/// on. Unlike a spin until a clock, one hundredth more of it is one hundredth more instructions.
class Work {
 public:
  /// `multiply_adds`: dependent chains over 4 KiB. `stream_bytes`: read and written once, in a
  /// buffer of this size. 0: none.
  Work(std::int64_t multiply_adds, std::int64_t stream_bytes);

  /// `more`: multiply-adds in addition to the usual ones, 0 and more.
  void run(std::int64_t more = 0);

 private:
  std::int64_t multiply_adds_;
  std::vector<float> small_;
  std::vector<std::uint64_t> large_;
};

}  // namespace assay::fake
