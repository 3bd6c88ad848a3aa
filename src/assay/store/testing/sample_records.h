#pragma once

#include <string>

#include "assay/base/fs.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

/// Records with something in every field, for tests of stores.
namespace assay {

struct SampleRun {
  Environment environment;
  Run run;
  Case cell;
  Subject subject;
  Artifact artifact;
  Reference reference;
  Attempt attempt;
  Launch launch;
};

/// Adds one run with one case, attempt and launch; every call makes new ids. Aborts on failure.
SampleRun add_sample_run(ResultStore& store);

/// A launch with samples, a profile and memory; its id is new.
Launch make_launch(const std::string& attempt, int index);

std::string make_id();

/// A temporary folder, in memory where the system has such a place: hundreds of syncs of a busy
/// disk would make the tests slow and prove nothing.
TemporaryFolder make_store_folder();

}  // namespace assay
