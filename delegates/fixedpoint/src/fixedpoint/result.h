#pragma once

#include <expected>
#include <string>
#include <utility>

namespace fixedpoint {

/// A value, or a sentence that says what is wrong.
template <class T>
using Result = std::expected<T, std::string>;
using Status = Result<void>;

inline std::unexpected<std::string> fail(std::string reason) {
  return std::unexpected(std::move(reason));
}

}  // namespace fixedpoint
