#pragma once

#include "features/site/index_rows.h"

#include <map>
#include <string>

namespace assay::site {

/// Results of the cases of one operator. `judged` is the sum of the others.
struct OperatorCount {
  int judged = 0;
  int passed = 0;
  int wrong = 0;    ///< Another answer, or one that differs from execution to execution.
  int died = 0;     ///< Runners that crashed, or were killed for time or memory.
  int refused = 0;  ///< Declared.
  int failed = 0;   ///< Ended in an error before there was an answer.
  int other = 0;    ///< These say nothing about the backend, or too little is delegated.
};

/// Counts of one run by operator; a case without an operator counts under its own name, and one
/// that was not run does not count.
std::map<std::string, OperatorCount> counts_by_operator(const ConformRow& row);

/// "1 wrong, 2 refused": what did not pass, the worst first; empty where all did.
std::string words_of_rest(const OperatorCount& count);

}  // namespace assay::site
