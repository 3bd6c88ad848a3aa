#pragma once

#include "features/reduce/finding.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"

namespace assay {

/// Property of the failure that must not change while a case becomes smaller.
enum class ReduceKind : std::uint8_t {
  kSame,          ///< The verdict that the case has at first; an error also its stage and text.
  kNumeric,       ///< Wrong, or differing between executions.
  kCrash,         ///< The process dies.
  kTimeout,       ///< It does not end.
  kError,         ///< Any error while it is made, loaded or executed.
  kNotDelegated,  ///< Something is left to the portable kernels.
  kSlower,        ///< Slower than with another recipe by a factor.
};

template <>
inline constexpr auto kEnumNames<ReduceKind> = std::to_array<EnumName<ReduceKind>>({
    {ReduceKind::kSame, "same"},
    {ReduceKind::kNumeric, "numeric"},
    {ReduceKind::kCrash, "crash"},
    {ReduceKind::kTimeout, "timeout"},
    {ReduceKind::kError, "error"},
    {ReduceKind::kNotDelegated, "not-delegated"},
    {ReduceKind::kSlower, "slower-than"},
});

struct ReduceCheck {
  ReduceKind kind = ReduceKind::kSame;
  std::string recipe;  ///< With kSlower: the recipe whose time is the baseline.
  double ratio = 1;    ///< With kSlower: greater than 1.
};

/// Reads "numeric", "slower-than=executorch/portable:1.5". Errors: kInvalidArgument, with what
/// there is.
Result<ReduceCheck> check_from_text(std::string_view text);

/// True if `found` fails as the check asks, `first` being what the case itself showed.
bool fails(const ReduceCheck& check, const ReduceFinding& first, const ReduceFinding& found);

/// An error's text without what changes with names and sizes: quoted names, digits, addresses,
/// paths. Short hexadecimal numbers stay: they are codes of errors.
std::string core_of_text(std::string_view text);

}  // namespace assay
