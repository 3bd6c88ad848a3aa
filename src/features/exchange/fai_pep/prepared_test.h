#pragma once

#include "features/exchange/fai_pep/composition.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {

/// The cores of a test that is bound to none.
inline constexpr const char* kAnyCores = "any";

/// One test, ready to be written.
struct PreparedTest {
  TestEntry entry;
  Composition composition;
  Json program;
  std::string cores;  ///< As a scenario has them.

  /// Why the test does not run here; empty: it does.
  [[nodiscard]] std::string unavailable() const {
    return program.value("unsupported", std::string());
  }
};

/// The tests of a file, at least one. Errors: those of read_specification and of composed.
Result<std::vector<PreparedTest>> prepared_tests(const std::filesystem::path& file,
                                                 const StandIns& stand_ins);

}  // namespace assay::fai_pep
