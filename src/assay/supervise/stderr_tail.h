#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// Keeps the tail of what a process writes to its stderr.
class StderrTail {
 public:
  static constexpr std::size_t kKeptBytes = 4096;

  void append(std::string_view bytes);

  /// The last 4 KiB as UTF-8 (other bytes become U+FFFD), from the start of a line where
  /// possible, "…" in front if something was cut. Without the lines "Error in cpuinfo: …" that
  /// runtimes with the cpuinfo library write at every start.
  [[nodiscard]] std::string text() const;

 private:
  std::string tail_;
  bool is_cut_ = false;
};

}  // namespace assay
