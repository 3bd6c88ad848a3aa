#include "features/exchange/feature.h"

#include "features/exchange/formats.h"
#include "features/feature.h"

#include <array>

#include "assay/report/writer.h"

namespace assay::exchange {
namespace {

constexpr auto kFormats = std::to_array<ReportFormat>({
    {"fai-pep", ".fai-pep.json", "results as FAI-PEP reports them", report::write_fai_pep},
    {"pytorch-hud", ".hud.json", "records of PyTorch's benchmark database (v3)",
     report::write_pytorch_hud},
    {"executorch-suite", ".executorch.csv", "the table of ExecuTorch's backend test suite",
     report::write_executorch_suite},
    {"perfherder", ".perfherder.json", "performance data for Mozilla's Perfherder",
     report::write_perfherder},
    {"github-benchmark", ".benchmark.json", "entries for github-action-benchmark",
     report::write_github_benchmark},
    {"github-benchmark-bigger", ".benchmark-bigger.json",
     "entries for github-action-benchmark of which more is better",
     report::write_github_benchmark_bigger},
});

}  // namespace

const Feature kFeature = {.report_formats = kFormats};

}  // namespace assay::exchange
