#include <array>
#include <span>

#include "assay/cli/verb.h"

namespace assay::cli {

std::span<const Verb> all_verbs() {
  static constexpr std::array<Verb, 16> kVerbs = {{
      {"run", "Measure and evaluate the cases of a spec", declare_run},
      {"bench", "How fast is one model or program", declare_bench},
      {"eval", "How far is one model from its reference", declare_eval},
      {"conform", "What a backend runs, refuses, gets wrong or dies of", declare_conform},
      {"reduce", "Shrink a failing case to the smallest that still fails", declare_reduce},
      {"attribute", "Which layers the error comes from, quantization's or the backend's",
       declare_attribute},
      {"compare", "Is B faster or slower than A", declare_compare},
      {"profile", "Where the time of an inference goes, operator by operator", declare_profile},
      {"calibrate", "What this machine can tell apart today", declare_calibrate},
      {"aot", "Make artifacts only", declare_aot},
      {"inspect", "What is in a program file", declare_inspect},
      {"list", "Engines, models, recipes, devices, metrics or runs", declare_list},
      {"engine", "Add an engine, or check that one keeps its contract", declare_engine},
      {"doctor", "What is available here, and how to get what is not", declare_doctor},
      {"report", "Show a stored run again, in any format", declare_report},
      {"merge", "Join another store into this one", declare_merge},
  }};
  return kVerbs;
}

}  // namespace assay::cli
