#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {

/// Who goes on with a run that another process began.
struct Successor {
  std::map<std::string, Environment> machines;  ///< The present machines, by device.
  bool is_run_named = false;                    ///< The user said which run, and not "latest".
  std::string command;                          ///< "assay run --resume"
};

/// Whether the run is left for the successor to take up, and what its user is to know. The newest
/// run of a store may be that of another machine, or one that a living process works on: such a run
/// is taken up only where it is named. A claim (ResultStore::claim_run) tells of processes as far
/// as the store's claims reach, which is this host for a file and all hosts for a server; beyond
/// that, Attempt::lease_until_unix_ns says how long a launch may last that another machine began.
/// Returns warnings. Errors: kInvalidArgument for a run that has to be named, the store's.
Result<std::vector<std::string>> check_takeover(const Run& run, ResultStore& store,
                                                const Successor& successor);

}  // namespace assay
