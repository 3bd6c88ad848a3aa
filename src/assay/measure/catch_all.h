#pragma once

#include <exception>
#include <fmt/format.h>
#include <new>

#include "assay/base/result.h"

namespace assay {

/// Calls what may throw, and makes a failure of it: an engine's exception must not end the runner.
template <class Call>
auto catch_all(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kExhausted, "out of memory");
  } catch (const std::exception& error) {
    return fail(ErrorCode::kEngine, fmt::format("the engine threw: {}", error.what()));
  } catch (...) {
    return fail(ErrorCode::kEngine, "the engine threw something that is no std::exception");
  }
}

}  // namespace assay
