#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <type_traits>

#include "assay/base/result.h"

namespace assay::openvino {

/// The failure that stands for the exception in flight; for catch blocks only. Memory that ran out
/// is kExhausted, what OpenVINO says it does not do kUnsupported, anything else `otherwise`.
/// `about`: a path that OpenVINO's text may quote, in which no word counts.
std::unexpected<Error> fail_with_exception(std::string_view what, ErrorCode otherwise,
                                           std::string_view about = {});

/// OpenVINO's text without the places in its sources, on one line, cut to a readable length.
std::string readable_text(std::string_view text);

/// Calls into OpenVINO: its result, or the failure of what it threw.
template <class Call>
Result<std::invoke_result_t<Call>> guarded(std::string_view what, ErrorCode otherwise, Call call,
                                           std::string_view about = {}) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (...) {
    return fail_with_exception(what, otherwise, about);
  }
}

}  // namespace assay::openvino
