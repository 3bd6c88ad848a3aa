#include <array>
#include <span>

#include "assay/cli/verb.h"

namespace assay::cli {

std::span<const Verb> all_verbs() {
  static constexpr std::array<Verb, 18> kVerbs = {{
      {"run", "Measure and evaluate the cases of a spec", declare_run,
       "assay run specs/mobilenet.json --report report.html"},
      {"bench", "How fast is one model or program", declare_bench,
       "assay bench torchvision:resnet18 --recipe executorch/xnnpack-fp32,executorch/xnnpack-int8 "
       "--threads 1,2"},
      {"eval", "How far is one model from its reference", declare_eval,
       "assay eval torchvision:mobilenet_v2 --recipe executorch/xnnpack-int8 --against "
       "float32,qdq"},
      {"conform", "What a backend runs, refuses, gets wrong or dies of", declare_conform,
       "assay conform --recipe executorch/xnnpack-fp32 --match 'aten.conv*'"},
      {"reduce", "Shrink a failing case to the smallest that still fails", declare_reduce,
       "assay reduce --run latest --bundle failures"},
      {"attribute", "Which layers the error comes from, quantization's or the backend's",
       declare_attribute,
       "assay attribute torchvision:mobilenet_v3_small --recipe executorch/xnnpack-int8"},
      {"compare", "Is B faster or slower than A", declare_compare,
       "assay compare before.pte after.pte --threads 1"},
      {"profile", "Where the time of an inference goes, operator by operator", declare_profile,
       "assay profile program.pte --threads 1"},
      {"calibrate", "What this machine can tell apart today", declare_calibrate,
       "assay calibrate --for 30s"},
      {"aot", "Make artifacts only", declare_aot,
       "assay aot torchvision:mobilenet_v2 --recipe executorch/xnnpack-int8 --out mobilenet_v2"},
      {"inspect", "What is in a program file", declare_inspect, "assay inspect program.pte"},
      {"list", "Engines, models, recipes, devices, metrics or runs", declare_list,
       "assay list recipes"},
      {"engine", "Add, list, remove or check engines", declare_engine,
       "assay engine add executorch@mine --prefix ~/executorch/install"},
      {"doctor", "What is available here, and how to get what is not", declare_doctor,
       "assay doctor"},
      {"report", "Show a stored run again, in any format", declare_report,
       "assay report latest --out report.html"},
      {"runs", "List, label and remove stored runs", declare_runs,
       "assay runs --model resnet18 --label commit=abc"},
      {"cache", "Show or prune what was made and is kept", declare_cache,
       "assay cache prune --to 1GB"},
      {"merge", "Join another store into this one", declare_merge, "assay merge other.db"},
  }};
  return kVerbs;
}

}  // namespace assay::cli
