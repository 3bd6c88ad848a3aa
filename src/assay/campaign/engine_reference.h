#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/artifact/cache.h"
#include "assay/base/result.h"
#include "assay/campaign/preparation.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {

/// Keeps what an engine made of a case's inputs as a reference for other engines: a folder of the
/// cache like any other reference, with the labels of the inputs, if they have some.
///
/// `outputs`: safetensors "<sample>.<index>". Errors: kUnavailable, kExhausted, kCorrupt (files).
Result<Reference> keep_engine_reference(const PreparedCase& prepared,
                                        std::span<const std::byte> outputs,
                                        const ArtifactCache& cache);

/// Finds the reference that an earlier launch of the same program, build and inputs left.
std::optional<Reference> find_engine_reference(const PreparedCase& prepared,
                                               const ArtifactCache& cache);

/// Which cases of a campaign give references to which, by "engine:NAME", and what they gave.
class EngineReferences {
 public:
  EngineReferences() = default;

  /// `against`: kinds of which those of engines are looked at. Cases by index into `prepared`.
  EngineReferences(std::span<const PreparedCase> prepared, std::span<const std::string> against,
                   const std::vector<EngineBuild>& builds);

  /// The cases that give a reference to some case, be it themselves.
  [[nodiscard]] const std::set<std::size_t>& providers() const { return providers_; }

  /// The case whose outputs `kind` means for this one; nothing for a kind that no engine gives.
  [[nodiscard]] std::optional<std::size_t> find_provider(std::size_t cell,
                                                         const std::string& kind) const;

  void put(std::size_t provider, Reference reference) {
    references_[provider] = std::move(reference);
  }

  /// Finds the reference of `kind` that the provider gave, if it gave one.
  [[nodiscard]] std::optional<Reference> find(std::size_t cell, const std::string& kind) const;

 private:
  std::map<std::size_t, std::map<std::string, std::size_t>>
      providers_by_case_;  ///< Keyed by case and kind.
  std::set<std::size_t> providers_;
  std::map<std::size_t, Reference> references_;
};

}  // namespace assay
