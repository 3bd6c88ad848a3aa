#pragma once

#include <cstdint>
#include <expected>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

/// Class of a failure by what the caller can do; the message says what to do.
enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  ///< The request is wrong: mend it.
  kNotFound,         ///< Something named does not exist: name another.
  kUnsupported,      ///< A declared refusal: this will never work here.
  kUnavailable,      ///< Missing here and now: install or start it, then try again.
  kTimeout,          ///< The deadline passed.
  kCrashed,          ///< The other process died.
  kCorrupt,          ///< Data is damaged: make or fetch it again.
  kConflict,         ///< Two places say different things of the same: find out which is right.
  kExhausted,        ///< Memory, disk or another resource ran out.
  kEngine,           ///< An engine failed in a way of its own.
  kInternal,         ///< A bug of Assay.
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::source_location where = std::source_location::current();
  std::string engine_code;  ///< The engine's own code, such as "0x20"; empty: none.
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// Builds the failure of a Result or Status: `return fail(ErrorCode::kNotFound, "no …; installed:
/// …")`.
inline std::unexpected<Error> fail(ErrorCode code, std::string message,
                                   std::source_location where = std::source_location::current()) {
  return std::unexpected(Error{code, std::move(message), where, {}});
}

/// Hands a failure up with what this level knew in front: "while loading m.pte: …".
inline std::unexpected<Error> fail_with_context(Error error, std::string_view context) {
  error.message = std::string(context) + ": " + error.message;
  return std::unexpected(std::move(error));
}

/// Aborts with file and line; for bugs of ours, never for user input.
[[noreturn]] void abort_on_failed_check(
    std::string_view what, std::source_location where = std::source_location::current());

}  // namespace assay

#define ASSAY_CHECK(condition)                    \
  do {                                            \
    if (!(condition)) {                           \
      ::assay::abort_on_failed_check(#condition); \
    }                                             \
  } while (false)

/// Returns the failure of a Status expression to the caller.
#define ASSAY_RETURN_IF_ERROR(expression)                      \
  do {                                                         \
    if (auto assay_status = (expression); !assay_status) {     \
      return std::unexpected(std::move(assay_status).error()); \
    }                                                          \
  } while (false)

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

/// `ASSAY_ASSIGN_OR_RETURN(auto bytes, read_file(path));` takes the value, or returns the failure.
#define ASSAY_ASSIGN_OR_RETURN(declaration, expression) \
  ASSAY_ASSIGN_OR_RETURN_INNER(ASSAY_CONCAT(assay_result_, __LINE__), declaration, expression)
#define ASSAY_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                         \
  if (!result) {                                                      \
    return std::unexpected(std::move(result).error());                \
  }                                                                   \
  declaration = *std::move(result)
