#pragma once

#include <cstdint>
#include <span>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/inference_error.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// The timed region, and nothing else: t0 | bind | t1 | execute | t2 | fetch | t3. Returns t3, or
/// the failure; `times` add up to t3 - t0.
inline Result<std::int64_t> time_inference(Session& session, std::span<const TensorView> inputs,
                                           PhaseTimes& times) {
  const std::int64_t t0 = monotonic_ns();
  const Status bound = session.bind(inputs);
  const std::int64_t t1 = monotonic_ns();
  if (!bound) [[unlikely]] {
    return fail_inference(bound.error());
  }
  const Status executed = session.execute();
  const std::int64_t t2 = monotonic_ns();
  if (!executed) [[unlikely]] {
    return fail_inference(executed.error());
  }
  const auto outputs = session.fetch();
  const std::int64_t t3 = monotonic_ns();
  if (!outputs) [[unlikely]] {
    return fail_inference(outputs.error());
  }
  times = {.bind_ns = t1 - t0, .execute_ns = t2 - t1, .fetch_ns = t3 - t2};
  return t3;
}

}  // namespace assay
