#pragma once

#include "features/exchange/fai_pep/stand_ins.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {

/// A test with its command lines, as --dry-run lists them.
struct ListedTest {
  std::string identifier;
  std::string metric;
  std::vector<std::vector<std::string>> commands;  ///< With the paths of this machine.
  std::string unavailable;                         ///< Why it does not run here; empty: it does.
  std::vector<std::string> missing;                ///< Sentences on what must be there, and is not.
};

/// The tests of a file of FAI-PEP. Nothing is written. Errors: those of read_specification, and of
/// composed.
Result<std::vector<ListedTest>> list_tests(const std::filesystem::path& file,
                                           const StandIns& stand_ins);

/// Makes a spec (assay/spec/1) of a file of FAI-PEP: a command program for each test in `folder`,
/// with the places of its files next to it, and one cell of the matrix for each test. Errors: as
/// above; kNotFound for a file or a program that is not there, naming the flag; those of writing.
Result<Json> import_specification(const std::filesystem::path& file, const StandIns& stand_ins,
                                  const std::filesystem::path& folder);

/// A spec, and the tests that it leaves out, each with its reason.
struct LitertImport {
  Json spec;
  std::vector<std::string> left_out;
};

/// Makes a spec that runs the graphs of TFLite files on the engine litert: one model for each
/// graph, and a cell of the matrix for each combination of threads and processors that a test of
/// that graph asks for. Errors: as above; kUnsupported for another format, for tests that differ in
/// iterations or warm-up, of which a spec has one each, and where no test can run.
Result<LitertImport> import_for_litert(const std::filesystem::path& file,
                                       const StandIns& stand_ins);

}  // namespace assay::fai_pep
