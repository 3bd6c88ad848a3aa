#include <array>
#include <span>

#include "assay/cli/verb.h"

namespace assay::cli {

std::span<const Verb> all_verbs() {
  static constexpr auto kVerbs = std::to_array<Verb>({
      {"run", "Measure and evaluate the cases of a spec", declare_run,
       "assay run specs/mobilenet.json --report report.html"},
      {"bench", "Measure the latency and memory of a model or program", declare_bench,
       "assay bench torchvision:resnet18 --recipe executorch/xnnpack-fp32,executorch/xnnpack-int8 "
       "--threads 1,2"},
      {"eval", "Compare the outputs of a model with its reference", declare_eval,
       "assay eval torchvision:mobilenet_v2 --recipe executorch/xnnpack-int8 --against "
       "float32,qdq"},
      {"conform", "Test which operators a backend runs, refuses, computes wrongly or crashes on",
       declare_conform, "assay conform --recipe executorch/xnnpack-fp32 --match 'aten.conv*'"},
      {"reduce", "Reduce a failing case to the smallest case that still fails", declare_reduce,
       "assay reduce --run latest --bundle failures"},
      {"attribute", "Attribute the error to layers, and to quantization or the backend",
       declare_attribute,
       "assay attribute torchvision:mobilenet_v3_small --recipe executorch/xnnpack-int8"},
      {"compare", "Test whether B is faster or slower than A", declare_compare,
       "assay compare before.pte after.pte --threads 1"},
      {"history", "Find the commits at which the values of a series changed", declare_history,
       "assay history --from times.csv"},
      {"watch", "Measure the commits of a repository and report regressions", declare_watch,
       "assay watch toy.json --for 2h"},
      {"bisect", "Find the commit of a repository that changed a metric", declare_bisect,
       "assay bisect toy.json v1.0..HEAD --only bench"},
      {"profile", "Show the time of an inference by operator", declare_profile,
       "assay profile program.pte --threads 1"},
      {"calibrate", "Measure the smallest difference that this machine can detect now",
       declare_calibrate, "assay calibrate --for 30s"},
      {"aot", "Build a program from a model and a recipe", declare_aot,
       "assay aot torchvision:mobilenet_v2 --recipe executorch/xnnpack-int8 --out mobilenet_v2"},
      {"import", "Make a spec of a file of FAI-PEP", declare_import,
       "assay import mobilenet_v2.json --out spec.json --program program=./benchmark_model"},
      {"inspect", "Show the contents of a program file", declare_inspect,
       "assay inspect program.pte"},
      {"list", "List engines, models, recipes, devices, metrics or runs", declare_list,
       "assay list recipes"},
      {"engine", "Add, build, list, remove or check engines", declare_engine,
       "assay engine add executorch@mine --prefix ~/executorch/install"},
      {"device", "Add, list, check, prepare or release devices", declare_device,
       "assay device add ssh:pi5"},
      {"work", "Execute the jobs of a fleet on a device", declare_work,
       "assay work --executor farm --device pi5"},
      {"fleet", "Show the devices and jobs of a fleet, drain devices, cancel runs", declare_fleet,
       "assay fleet status --executor farm"},
      {"doctor", "Check the installation and say how to get what is missing", declare_doctor,
       "assay doctor"},
      {"init", "Write the configuration, or show each value with its origin", declare_init,
       "assay init --set threads=1", ConfigUse::kNone},
      {"report", "Write a report of a stored run in any format", declare_report,
       "assay report latest --out report.html"},
      {"runs", "List, label and remove stored runs", declare_runs,
       "assay runs --model resnet18 --label commit=abc"},
      {"store", "Show the size of a store, export runs, or let users in", declare_store,
       "assay store info"},
      {"serve", "Show all results of a store in a browser", declare_serve, "assay serve"},
      {"site", "Write the pages of assay serve as files", declare_site, "assay site pages"},
      {"cache", "Show or prune cached programs and references", declare_cache,
       "assay cache prune --to 1GB"},
      {"merge", "Merge other stores into this one", declare_merge, "assay merge other.db"},
      {"completion", "Print the completion script of a shell", declare_completion,
       "source <(assay completion bash)", ConfigUse::kOptional},
      {"complete", "Complete a command line", declare_complete, nullptr, ConfigUse::kOptional},
      {"manual", "Print the manual page", declare_manual, nullptr, ConfigUse::kNone},
  });
  return kVerbs;
}

}  // namespace assay::cli
