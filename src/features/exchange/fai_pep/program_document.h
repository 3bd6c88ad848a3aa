#pragma once

#include "features/exchange/fai_pep/composition.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "assay/base/json.h"

namespace assay::fai_pep {

/// The processors that a test is bound to, as a scenario has them ("4-7"); absent: any. "cpu-list"
/// counts before the mask "taskset" of its platform_args.
std::optional<std::string> cores_of(const TestEntry& entry);

/// Why a test cannot run here, as a sentence; empty: it can.
std::string reason_against(const TestEntry& entry, const Composition& composition,
                           const StandIns& stand_ins);

/// The command program of a test (docs/reference/engines.md#command). Paths are no part of it: what
/// it names are places, and `about` has the test's names.
Json program_from_test(const TestEntry& entry, const Composition& composition,
                       const StandIns& stand_ins);

}  // namespace assay::fai_pep
