#pragma once

#include <array>
#include <cstdint>

#include "assay/base/enum_names.h"

namespace assay {

/// The ways in which the outputs of a build become an engine.
enum class RunnerKind : std::uint8_t {
  kCommand,  ///< A program of its own; `.command.json` files say how it is called.
  kPrefix,   ///< An installation of ExecuTorch or OpenVINO, against which a runner is built.
  kProgram,  ///< A runner that speaks Assay's protocol.
  kPython,   ///< A virtual environment whose packages hold the engine.
};

template <>
inline constexpr auto kEnumNames<RunnerKind> = std::to_array<EnumName<RunnerKind>>({
    {RunnerKind::kCommand, "command"},
    {RunnerKind::kPrefix, "prefix"},
    {RunnerKind::kProgram, "program"},
    {RunnerKind::kPython, "python"},
});

}  // namespace assay
