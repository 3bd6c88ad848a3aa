#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/subject.h"

namespace assay {

/// Environment::hypervisor of a process that QEMU translates.
inline constexpr std::string_view kUserModeEmulator = "qemu-user";

/// The machine that runs, as far as it tells. The id is a digest of what stays as long as the
/// machine is the same: processor, microcode, instruction sets, count, kernel, governor,
/// hypervisor. Memory and the rest vary from day to day and are stored next to it.
struct Environment {
  std::string id;
  std::string device_class;
  std::string cpu_model;
  int cpus = 0;
  std::int64_t memory_bytes = 0;
  std::string kernel;
  std::string os;
  std::string hypervisor;
  std::vector<std::string>
      cpu_flags;  ///< Those that matter to kernels: avx2, avx512f, avx512_vnni, …
  Json details = Json::object();
};

/// Environment::details: what Assay did with the device while it measured, as the user wrote it,
/// and cores by name, {"big": "4-7", "little": "0-3"}; a machine whose cores are all alike has
/// none.
inline constexpr const char* kPolicyDetail = "policy";
inline constexpr const char* kCoresDetail = "cores";

/// A detail of the machine on one line, "big 4-7, little 0-3"; empty if it has none.
std::string text_of_detail(const Environment& environment, std::string_view name);

/// Digest of all that the machine told: one machine may tell several things over time.
std::string environment_key(const Environment& environment);

/// One execution of a set of cases.
struct Run {
  std::string id;  ///< UUIDv7
  /// "measure", "compare", "profile", "calibrate" or "conform"; of a watcher "watch", "verify" or
  /// "bisect".
  std::string purpose = "measure";
  std::string name;
  std::map<std::string, std::string> labels;
  std::uint64_t seed = 0;
  std::vector<std::string> argv;
  std::string spec_digest;
  Json spec;
  std::string environment;      ///< Id of the machine.
  std::string environment_key;  ///< Key of the machine's description then; empty: the latest one.
  std::int64_t started_unix_ns = 0;
  std::int64_t finished_unix_ns = 0;  ///< 0: not finished.
};

/// One try at one case in one pass. Its launches carry the data.
struct Attempt {
  std::string id;  ///< UUIDv7
  std::string run;
  std::string case_key;
  std::string subject;
  std::string artifact;  ///< Artifact::id of the program; empty: there is none.
  std::string device = "local";
  Pass pass = Pass::kTiming;
  std::string worker;
  std::int64_t lease_until_unix_ns = 0;
  int n = 0;  ///< Number of the try.
  bool is_finished = false;
  Outcome outcome = Outcome::kSkipped;
  Stage stage = Stage::kNone;
  std::string reason_code;
  std::string text;
};

/// Expected outputs, kept apart from artifacts and shared by all recipes that match.
struct Reference {
  std::string key;   ///< Digest of what it was made from.
  std::string kind;  ///< "float32", "float64", "qdq", "lowered_eager"
  std::string folder;
  Json document;  ///< reference.json of docs/contracts/aot.md
  /// Digest of the whole record; one that is made again may differ under the same key.
  [[nodiscard]] std::string id() const;
};

ASSAY_DECLARE_JSON(Environment);
ASSAY_DECLARE_JSON(Run);
ASSAY_DECLARE_JSON(Attempt);
ASSAY_DECLARE_JSON(Reference);

}  // namespace assay
