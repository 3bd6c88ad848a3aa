#pragma once

#include "assay/base/enum_names.h"
#include "assay/base/result.h"

namespace assay {

template <>
inline constexpr auto kEnumNames<ErrorCode> = std::to_array<EnumName<ErrorCode>>({
    {ErrorCode::kInvalidArgument, "invalid_argument"},
    {ErrorCode::kNotFound, "not_found"},
    {ErrorCode::kUnsupported, "unsupported"},
    {ErrorCode::kUnavailable, "unavailable"},
    {ErrorCode::kTimeout, "timeout"},
    {ErrorCode::kCrashed, "crashed"},
    {ErrorCode::kCorrupt, "corrupt"},
    {ErrorCode::kConflict, "conflict"},
    {ErrorCode::kExhausted, "exhausted"},
    {ErrorCode::kEngine, "engine"},
    {ErrorCode::kInternal, "internal"},
});

}  // namespace assay
