#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/spec/expand.h"
#include "assay/spec/spec.h"

namespace assay {

/// Parts of a request that come from the caller rather than from the spec.
struct RequestOptions {
  std::map<std::string, std::string> labels;  ///< Added to the spec's; they win.
  std::vector<std::string> argv;              ///< Kept with the run.
  std::vector<std::string> libraries;         ///< "/a.so", or "executorch=/a.so".
  std::optional<SandboxMode> sandbox;         ///< Absent: the spec's.
  std::int64_t launch_timeout_ns = 0;         ///< 0: that of the pass and ten minutes.
  std::int64_t job_timeout_ns = 0;      ///< Timeout of an ahead-of-time job; 0: build_timeout_ns.
  std::int64_t memory_limit_bytes = 0;  ///< Limit of a runner; 0: none.
  std::string sensors;                  ///< "250ms", "off", "auto"; empty: the spec's.
  int parallel_jobs = 2;                ///< Ahead of time.
  bool is_rebuild = false;
  bool keeps_repeated = false;  ///< A case that the spec names twice is there twice.
  bool has_plugins = false;     ///< Unknown engine names may be a plug-in's.
};

/// A device that can be reached, and the builds that are installed there.
struct PlannedDevice {
  std::string name = "local";
  Environment environment;
  InstalledBuilds installed;
  std::vector<std::string> meter;  ///< Command here that reads its power meter; empty: none.
};

/// A new run with its cases, and what became no case.
struct PlannedRequest {
  CampaignRequest request;
  std::vector<RefusedCell> refused;
  std::vector<std::string> warnings;
};

/// A new run on several devices: a request for each, of one run.
struct PlannedRequests {
  std::vector<CampaignRequest> requests;
  std::vector<RefusedCell> refused;
  std::vector<std::string> warnings;
};

/// Errors: those of check_search() for the engines that the spec names.
Status check_engines_found(const Spec& spec, const InstalledBuilds& installed);

/// The campaign that a spec describes on its devices, in their order; one without a case has a
/// request, too. The run has the machine of the first device. The cases of a spec without models
/// have none. Errors: those of expand() and check_search(); kInvalidArgument for a library of an
/// unknown engine.
Result<PlannedRequests> requests_from_spec(const Spec& spec, RequestOptions options,
                                           std::vector<PlannedDevice> devices);

/// Like requests_from_spec(), for a spec with one device.
Result<PlannedRequest> request_from_spec(const Spec& spec, RequestOptions options,
                                         PlannedDevice device);

}  // namespace assay
