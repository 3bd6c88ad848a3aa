#pragma once

#include <span>

#include "assay/report/writer.h"

namespace assay {

/// A part of Assay beyond the core, with what it adds to lists of the core. A feature that adds
/// something declares its own in feature.h.
struct Feature {
  std::span<const ReportFormat> report_formats;
};

}  // namespace assay
