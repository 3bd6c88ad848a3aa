#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

enum class IncidentKind : std::uint8_t {
  kStep,         ///< One commit changed the metric.
  kDrift,        ///< Many small changes add up.
  kSilence,      ///< No point for some time.
  kBrokenBuild,  ///< Commits that cannot be built.
};

template <>
inline constexpr auto kEnumNames<IncidentKind> = std::to_array<EnumName<IncidentKind>>({
    {IncidentKind::kStep, "step"},
    {IncidentKind::kDrift, "drift"},
    {IncidentKind::kSilence, "silence"},
    {IncidentKind::kBrokenBuild, "broken_build"},
});

enum class IncidentState : std::uint8_t {
  kNominated,     ///< The history suggests it.
  kVerifying,     ///< Pairs of fresh launches are being made.
  kConfirmed,     ///< Fresh pairs show it.
  kRejected,      ///< Fresh pairs do not show it.
  kUndecided,     ///< Fresh pairs cannot tell.
  kAcknowledged,  ///< Somebody works on it.
  kFixed,         ///< The metric is back.
  kAccepted,      ///< A known price: the new level is the base.
};

template <>
inline constexpr auto kEnumNames<IncidentState> = std::to_array<EnumName<IncidentState>>({
    {IncidentState::kNominated, "nominated"},
    {IncidentState::kVerifying, "verifying"},
    {IncidentState::kConfirmed, "confirmed"},
    {IncidentState::kRejected, "rejected"},
    {IncidentState::kUndecided, "undecided"},
    {IncidentState::kAcknowledged, "acknowledged"},
    {IncidentState::kFixed, "fixed"},
    {IncidentState::kAccepted, "accepted"},
});

/// Something about the history of a repository that somebody should know.
struct Incident {
  std::string id;  ///< UUIDv7
  std::string repository;
  std::string environment;
  std::string machine;  ///< Environment::id of the machine that measured.
  IncidentKind kind = IncidentKind::kStep;
  std::vector<std::string> cases;  ///< Case keys that one cause has changed.
  std::string metric;
  std::string good;  ///< Last revision that was measured before it; empty: none was.
  std::string bad;   ///< First revision that shows it.
  std::int64_t opened_unix_ns = 0;
  // The rest is what becomes of it.
  IncidentState state = IncidentState::kNominated;
  std::string culprit;                   ///< Revision; empty: not known.
  std::vector<std::string> comparisons;  ///< Ids, in order of making.
  Json attribution;                      ///< Its explanation: operators, files, instructions.
  std::string note;                      ///< A person's words.
  std::int64_t changed_unix_ns = 0;
};

/// Checks that a stored incident may become `next`: its subject stays, its state goes a way that
/// makes sense ("rejected" never becomes "fixed"), and the time of change does not go back. Errors:
/// kInvalidArgument, naming the states that are possible.
Status check_update(const Incident& stored, const Incident& next);

/// True where nothing more is to be done about it.
bool is_closed(IncidentState state);

ASSAY_DECLARE_JSON(Incident);

}  // namespace assay
