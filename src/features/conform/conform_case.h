#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/conformance.h"

namespace assay {

/// One case of a suite: a model, and what it stands for.
struct ConformCase {
  std::string name;  ///< Stable over versions of Assay: what lists of known gaps name.
  ModelReference model;
  InputSet inputs;  ///< "model" where the model has samples of its own.
  std::string operator_name;
  std::string dtype;
  std::string shape_class;
  std::string values;
  std::string tier;
  bool is_joinable = false;  ///< May share a program with others.
  bool refuses = false;      ///< The program has to refuse its last samples, by an error.
  double cost = 1;           ///< Relative to one small operator.
};

/// Cases that the toolchain's job "conform" lists.
struct CaseListing {
  std::vector<ConformCase> cases;
  std::vector<OperatorCoverage> coverage;
  std::string known_gaps_folder;  ///< Folder of the lists that belong to it; may be empty.
};

/// Which cases are wanted.
struct CaseSelection {
  std::string suite = "operators";  ///< Or "models".
  std::string tier = "quick";       ///< Or "full", or "fuzz".
  std::vector<std::string> match;   ///< Patterns of operators; empty: all.
  std::vector<std::string> dtypes;  ///< Empty: all.
  std::uint64_t seed = 0;           ///< Seed of the calls of tier fuzz.
  int count = 100;                  ///< Number of calls of tier fuzz.
};

/// The request of job "conform" (docs/guide/conformance.md), without its id.
Json listing_request(const CaseSelection& selection);

/// Reads the reply. Errors: kCorrupt, naming the place: a case without name or model, a name that
/// stands there twice.
Result<CaseListing> listing_from_json(const Json& reply);

/// The share of one of `count` shards, 0-based: cases by cost, the dearest first, each to the shard
/// that has least; in the order of the listing. Every case is in exactly one shard.
std::vector<ConformCase> shard_of(const std::vector<ConformCase>& cases, int index, int count);

}  // namespace assay
