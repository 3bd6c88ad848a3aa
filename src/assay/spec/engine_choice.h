#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/record/case.h"
#include "assay/record/subject.h"
#include "assay/spec/spec.h"

namespace assay {

/// A build that a cell may run on, or why there is none.
struct EngineChoice {
  std::string name;
  std::string reference;  ///< name@label, or as the spec wrote it when it is not installed.
  std::string refusal;    ///< Empty: it is a cell.
  std::string lacks;      ///< Why the build cannot run the recipe's program; empty: it can.
};

/// One choice for each of `wanted`, or the recipe's own engine when that is empty: of several
/// builds the first with the backend that the recipe needs. A recipe without engine (a finished
/// program) fits every engine that loads what it produces.
std::vector<EngineChoice> choose_engines(std::span<const SpecEngine> wanted, const Recipe& recipe,
                                         std::span<const EngineBuild> installed);

}  // namespace assay
