#pragma once

#include "features/history/verified_change.h"

#include <vector>

#include "assay/record/incident.h"
#include "assay/record/repository.h"

namespace assay::watch {

/// The incidents of noisy and exact metrics as a history shows them, the newest commit first. Those
/// whose commits are not among `revisions` (a force-push), and those that are not about a series,
/// are left out.
std::vector<history::VerifiedChange> verified_changes(const std::vector<Incident>& incidents,
                                                      const std::vector<Revision>& revisions);

}  // namespace assay::watch
