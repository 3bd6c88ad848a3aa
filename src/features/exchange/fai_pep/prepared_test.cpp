#include "features/exchange/fai_pep/prepared_test.h"

#include "features/exchange/fai_pep/composition.h"
#include "features/exchange/fai_pep/program_document.h"
#include "features/exchange/fai_pep/specification.h"
#include "features/exchange/fai_pep/stand_ins.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay::fai_pep {

Result<std::vector<PreparedTest>> prepared_tests(const std::filesystem::path& file,
                                                 const StandIns& stand_ins) {
  ASSAY_ASSIGN_OR_RETURN(auto entries, read_specification(file));
  std::vector<PreparedTest> tests;
  for (auto& entry : entries) {
    auto composition = composed(entry, stand_ins);
    if (!composition) {
      return fail_with_context(std::move(composition).error(), entry.file.string());
    }
    auto program = program_from_test(entry, *composition, stand_ins);
    tests.push_back({.entry = std::move(entry),
                     .composition = *std::move(composition),
                     .program = std::move(program),
                     .cores = kAnyCores});
    if (const auto cores = cores_of(tests.back().entry);
        cores && tests.back().unavailable().empty()) {
      tests.back().cores = *cores;
    }
  }
  return tests;
}

}  // namespace assay::fai_pep
