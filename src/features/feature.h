#pragma once

#include <span>
#include <string_view>

#include "assay/report/writer.h"

namespace assay {

/// What a feature adds to the core. A feature that adds something has a feature.h that declares it.
struct Feature {
  std::string_view name;
  std::span<const ReportFormat> report_formats;
};

}  // namespace assay
