#pragma once

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/subject.h"
#include "assay/spec/spec.h"

namespace assay {

/// A device that can be reached.
struct ExpansionDevice {
  std::string name = "local";
  std::string device_class;
  std::vector<EngineBuild> installed;  ///< A name without label takes the first of that name.
};

/// Facts that a spec does not contain: where it runs.
struct ExpansionContext {
  std::vector<ExpansionDevice> devices = {{}};
  bool keeps_repeated = false;  ///< A case that stands in the matrix twice stays twice.
  bool has_plugins = false;     ///< Unknown engine names may be a plug-in's.
  bool has_libraries = false;   ///< Backends that no build lists may be a library's.
};

/// Cells that are no cases: all options of one model, recipe and engine on one device.
struct RefusedCell {
  std::string model;
  std::string recipe;
  std::string engine;
  std::string device;
  std::string reason;  ///< "unavailable: …" or why the parts do not fit.
  int cells = 0;
};

struct Expansion {
  std::vector<Case> cases;  ///< Cases in the spec's order; options vary fastest, by name.
  std::vector<RefusedCell> refused;
  std::vector<std::string> warnings;  ///< An exclude that matches nothing, a case named twice.
  int legal_cells = 0;                ///< Number of cells before pairwise reduction.
  int excluded_cells = 0;
};

/// Makes the cases of a spec. Deterministic. Reads the files that models and input sets name, to
/// digest them.
/// Errors: kNotFound (a file, with its url), kCorrupt (a file with another digest),
/// kInvalidArgument (unknown engine or device, a device named twice; more cases than max_cases,
/// with the count).
Result<Expansion> expand(const Spec& spec, const ExpansionContext& context);

/// Makes a case for each combination of recipe, engine and options of a spec without models
/// (SpecContext::has_models). Its model is empty: the caller puts models and inputs in. Errors:
/// kInvalidArgument, as expand.
Result<Expansion> expand_settings(const Spec& spec, const ExpansionContext& context);

}  // namespace assay
