#pragma once

#include <optional>
#include <string>

#include "assay/base/json.h"
#include "assay/record/calibration.h"

namespace assay::report {

/// Formats the result of a calibration as a few lines.
std::string console_from_calibration(const Calibration& calibration);

/// "in loop a difference of 1.3 % shows in 10 s, 0.6 % in 60 s (assay calibrate, 2026-11-21)", for
/// the head of a report: a machine tells less apart in a program that is less steady. Empty where
/// there is no calibration, or no difference can be shown.
std::string line_from_calibration(const std::optional<Calibration>& calibration);

/// Schema assay/calibration/1: all of the record.
Json document_from_calibration(const Calibration& calibration);

}  // namespace assay::report
