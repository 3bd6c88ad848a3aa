#pragma once

#include "features/exchange/fai_pep/locations.h"
#include "features/exchange/fai_pep/stand_ins.h"
#include "features/exchange/fai_pep/test_entry.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::fai_pep {

using Argv = std::vector<std::string>;

/// The commands of one test as FAI-PEP would run them. An argument is that of a command program
/// (docs/reference/engines.md#command): {place:NAME} is a file or a program, {scratch:NAME} a
/// folder of the launch, "{{" a brace.
struct Composition {
  std::vector<Argv> steps;  ///< In order, repeats included; all outputs are read together.
  int host_commands = 0;    ///< Those of them that prepare or evaluate on the host.
  std::map<std::string, LocatedFile> places;  ///< By NAME.
  std::vector<std::string> missing;           ///< Sentences on what is not there yet.
};

/// Errors: kInvalidArgument for a placeholder without a value, with its path; kUnsupported for what
/// has no command.
/// Source: FAI-PEP at 7c1a57e, benchmarking/frameworks/framework_base.py, caffe2.py, tflite.py.
Result<Composition> composed(const TestEntry& entry, const StandIns& stand_ins);

/// A step with its places, and with names of folders in place of scratch, to be read or compared.
Argv shown_argv(const Argv& step, const Composition& composition);

}  // namespace assay::fai_pep
