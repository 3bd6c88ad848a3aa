#include "assay/cli/run_filter_flags.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "assay/base/result.h"
#include "assay/cli/labels.h"
#include "assay/store/result_store.h"

namespace assay::cli {

void RunFilterFlags::declare(CLI::App& app) {
  app.add_option(
      "filter", texts,
      "Show only runs whose id, name, command, labels or cases contain all of these words");
  app.add_option("--label", labels, "Select runs with this label: KEY=VALUE, or KEY for any value");
  app.add_option("--purpose", purpose,
                 "Select runs of this verb (bench, compare, …) or purpose (measure)");
  app.add_option("--model", model, "Select runs of a model whose name contains SUBSTRING");
}

Result<RunFilter> RunFilterFlags::filter(int limit) const {
  ASSAY_ASSIGN_OR_RETURN(auto wanted, label_filter_from_texts(labels));
  return RunFilter{.limit = limit,
                   .made_by = purpose,
                   .labels = std::move(wanted),
                   .model = model,
                   .texts = texts};
}

}  // namespace assay::cli
