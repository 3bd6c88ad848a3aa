#include <array>
#include <span>

#include "assay/cli/verb.h"

namespace assay::cli {
namespace {

constexpr const char* kMeasure = "Measure";
constexpr const char* kJudge = "Judge";
constexpr const char* kOverTime = "Over time";
constexpr const char* kPrograms = "Programs and specs";
constexpr const char* kFarms = "Devices and fleets";
constexpr const char* kResults = "Results";
constexpr const char* kSetUp = "Set-up";
constexpr const char* kHidden = "";  // The scripts of shells and the build call them.

}  // namespace

std::span<const Verb> all_verbs() {
  static constexpr auto kVerbs = std::to_array<Verb>({
      {"run", kMeasure, "Measure and evaluate the cases of a spec", declare_run,
       "assay run specs/mobilenet.json --report report.html"},
      {"bench", kMeasure, "Measure the latency and memory of a model or program", declare_bench,
       "assay bench torchvision:resnet18 --recipe executorch/xnnpack-fp32,executorch/xnnpack-int8 "
       "--threads 1,2"},
      {"profile", kMeasure, "Show the time of an inference by operator", declare_profile,
       "assay profile program.pte --threads 1"},
      {"compare", kMeasure, "Test whether B is faster or slower than A", declare_compare,
       "assay compare before.pte after.pte --threads 1"},
      {"calibrate", kMeasure, "Measure the smallest difference that this machine can detect now",
       declare_calibrate, "assay calibrate --for 30s"},
      {"eval", kJudge, "Compare the outputs of a model with its reference", declare_eval,
       "assay eval torchvision:mobilenet_v2 --recipe executorch/xnnpack-int8 --against "
       "float32,qdq"},
      {"conform", kJudge,
       "Test which operators a backend runs, refuses, computes wrongly or crashes on",
       declare_conform, "assay conform --recipe executorch/xnnpack-fp32 --match 'aten.conv*'"},
      {"reduce", kJudge, "Reduce a failing case to the smallest case that still fails",
       declare_reduce, "assay reduce --run latest --bundle failures"},
      {"attribute", kJudge, "Attribute the error to layers, and to quantization or the backend",
       declare_attribute,
       "assay attribute torchvision:mobilenet_v3_small --recipe executorch/xnnpack-int8"},
      {"history", kOverTime, "Find the commits at which the values of a series changed",
       declare_history, "assay history --from times.csv"},
      {"watch", kOverTime, "Measure the commits of a repository and report regressions",
       declare_watch, "assay watch toy.json --for 2h"},
      {"bisect", kOverTime, "Find the commit of a repository that changed a metric", declare_bisect,
       "assay bisect toy.json v1.0..HEAD --only bench"},
      {"aot", kPrograms, "Build a program from a model and a recipe", declare_aot,
       "assay aot torchvision:mobilenet_v2 --recipe executorch/xnnpack-int8 --out mobilenet_v2"},
      {"import", kPrograms, "Make a spec of a file of FAI-PEP", declare_import,
       "assay import mobilenet_v2.json --out spec.json --program program=./benchmark_model"},
      {"inspect", kPrograms, "Show the contents of a program file", declare_inspect,
       "assay inspect program.pte"},
      {"device", kFarms, "Add, list, check, prepare or release devices", declare_device,
       "assay device add ssh:pi5"},
      {"work", kFarms, "Execute the jobs of a fleet on a device", declare_work,
       "assay work --executor farm --device pi5"},
      {"fleet", kFarms, "Show the devices and jobs of a fleet, drain devices, cancel runs",
       declare_fleet, "assay fleet status --executor farm"},
      {"report", kResults, "Write a report of a stored run in any format", declare_report,
       "assay report latest --out report.html"},
      {"runs", kResults, "List, label and remove stored runs", declare_runs,
       "assay runs --model resnet18 --label commit=abc"},
      {"store", kResults, "Show the size of a store, export runs, or let users in", declare_store,
       "assay store info"},
      {"merge", kResults, "Merge other stores into this one", declare_merge,
       "assay merge other.db"},
      {"serve", kResults, "Show all results of a store in a browser", declare_serve, "assay serve"},
      {"site", kResults, "Write the pages of assay serve as files", declare_site,
       "assay site pages"},
      {"init", kSetUp, "Write the configuration, or show each value with its origin", declare_init,
       "assay init --set threads=1", ConfigUse::kNone},
      {"doctor", kSetUp, "Check the installation and say how to get what is missing",
       declare_doctor, "assay doctor"},
      {"list", kSetUp, "List engines, models, recipes, devices, metrics or runs", declare_list,
       "assay list recipes"},
      {"engine", kSetUp, "Add, build, list, remove or check engines", declare_engine,
       "assay engine add executorch@mine --prefix ~/executorch/install"},
      {"cache", kSetUp, "Show or prune cached programs and references", declare_cache,
       "assay cache prune --to 1GB"},
      {"completion", kSetUp, "Print the completion script of a shell", declare_completion,
       "source <(assay completion bash)", ConfigUse::kOptional},
      {"complete", kHidden, "Complete a command line", declare_complete, nullptr,
       ConfigUse::kOptional},
      {"manual", kHidden, "Print the manual page", declare_manual, nullptr, ConfigUse::kNone},
  });
  return kVerbs;
}

}  // namespace assay::cli
