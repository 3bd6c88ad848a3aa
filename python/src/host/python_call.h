#pragma once

#include <nanobind/nanobind.h>
#include <string>
#include <type_traits>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::host {

namespace nb = nanobind;

/// The failure that a Python exception stands for: its "code" where it has one (assay.AssayError),
/// kExhausted for MemoryError, kEngine for the rest, whose message has its type. Needs the lock.
Error error_from(const nb::python_error& error);

/// Parses the output of `json.dumps`. Throws nb::python_error for what JSON has no form for,
/// std::exception for what is nested too deep.
Json json_from(nb::handle object);

/// The other way round.
nb::object object_from(const Json& value);

/// Calls into Python with its lock held: the result, or the failure of what was raised.
template <class Call>
auto with_python(Call call) {
  using Value = std::invoke_result_t<Call>;
  using Returned =
      std::conditional_t<std::is_void_v<Value>, Status, Result<std::remove_cvref_t<Value>>>;
  const nb::gil_scoped_acquire lock;
  try {
    if constexpr (std::is_void_v<Value>) {
      call();
      return Returned{};
    } else {
      return Returned{call()};
    }
  } catch (const nb::python_error& error) {
    return Returned{std::unexpected(error_from(error))};
  } catch (const std::exception& error) {
    return Returned{fail(ErrorCode::kEngine, error.what())};
  }
}

}  // namespace assay::host
