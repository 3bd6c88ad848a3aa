#pragma once

#include <string>

#include "assay/record/summary.h"

namespace assay::report {

/// The data of a run's page: document_of() with series that are thinned for pictures, without
/// the spec, and bounded (bounded_document.h).
///
/// A launch with more inferences than can be drawn has in `execute_ns` those that stats::thinned
/// chose, `drawn` their places in the series, and `inferences` how many there were; traces of
/// sensors are thinned alike. Every aggregate is that of the whole series.
std::string run_page_data(const RunSummary& summary);

/// Title of the run at the head of its page, as in lists: title_of_run().
std::string title_of(const RunSummary& summary);

}  // namespace assay::report
