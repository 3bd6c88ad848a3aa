#pragma once

#include "features/site/markup.h"
#include "features/site/run_index.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/store/result_store.h"

namespace assay::site {

/// An incident as pages show it.
struct IncidentRow {
  Incident incident;
  std::string what;     ///< "step of steady_ns"
  std::string effect;   ///< "+4.6 % [+3.6 %, +5.1 %], 20 pairs"; empty: no pairs showed one yet.
  std::string subject;  ///< Title of its commit; empty: not known.
  Markup cases;         ///< The first case with a link, and how many more.
  std::string run;      ///< Run with the newest comparison of both builds; empty: none.
};

enum class IncidentScope : std::uint8_t { kAll, kOpen };

/// Incidents of a repository that a page shows, and how many it has.
struct IncidentList {
  std::vector<IncidentRow> rows;  ///< Newest first.
  std::size_t all = 0;
  std::size_t open = 0;
};

/// At most `most` rows: what a page shows of one costs several look-ups. `root`: root_from() of the
/// page. Errors: the store's and the index's.
Result<IncidentList> incidents_of(ResultStore& store, RunIndex& index, const Repository& repository,
                                  const std::string& root, IncidentScope scope, std::size_t most);

/// The name of a repository for people: "toyrepo" of "/home/me/toyrepo" and of
/// "https://example.org/me/toyrepo.git"; a package by its name.
std::string short_name_of_url(const std::string& url);

}  // namespace assay::site
