#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"

namespace assay {

enum class BuildOutcome : std::uint8_t { kBuilt, kFailed };

template <>
inline constexpr auto kEnumNames<BuildOutcome> = std::to_array<EnumName<BuildOutcome>>({
    {BuildOutcome::kBuilt, "built"},
    {BuildOutcome::kFailed, "failed"},
});

/// One build of an engine from a revision. A build that fails is a result, too.
struct RevisionBuild {
  std::string repository;   ///< Repository::id()
  std::string revision;     ///< Revision::hash
  std::string environment;  ///< "default": the toolchain and flags it was built with.
  std::string engine;       ///< "toy"
  std::string label;        ///< "0123456789ab", or "0123456789ab-avx2"
  std::string key;          ///< In the build cache: digest of all that it was built from.
  BuildOutcome outcome = BuildOutcome::kFailed;
  std::string reason;         ///< Why it failed; empty for one that did not.
  Json tools;                 ///< Versions by name.
  double seconds = 0;         ///< That the build took, pauses for timings excluded.
  std::string output_digest;  ///< Without symbols; where it is equal, there is nothing to measure.
  std::string log;            ///< File, on the machine that built it.
  /// The parent, or the revision that the parent equals, whose outputs are the same; empty: none.
  std::string same_as;
  std::int64_t built_unix_ns = 0;
  /// Digest of all of it.
  [[nodiscard]] std::string id() const;
  /// "toy@0123456789ab", as runs and comparisons name it.
  [[nodiscard]] std::string reference() const { return engine + "@" + label; }
};

ASSAY_DECLARE_JSON(RevisionBuild);

}  // namespace assay
