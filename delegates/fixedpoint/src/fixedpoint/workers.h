#pragma once

#include <cstdint>

namespace fixedpoint {

/// Threads that do parts of one piece of work at the same time.
///
/// Allocates nothing when it runs. An implementation may do several parts one after the other.
class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  virtual ~Workers() = default;

  /// Into how many parts work is divided; the same for as long as the object lives.
  virtual int count() const = 0;
  /// Calls `work(context, part)` once for each part from 0 to `count()`; returns when all are done.
  virtual void run(void (*work)(void* context, int part), void* context) = 0;
};

/// Numbers from `first` to `end`.
struct Share {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

/// The share of one of `parts` in `count` things, in multiples of `grain` but for the last.
inline Share share_of(std::int64_t count, int part, int parts, std::int64_t grain) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t first = grains * part / parts * grain;
  const std::int64_t end = grains * (part + 1) / parts * grain;
  return {first < count ? first : count, end < count ? end : count};
}

}  // namespace fixedpoint
