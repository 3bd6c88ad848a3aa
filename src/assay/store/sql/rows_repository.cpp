// Rows of repositories, of their builds, and of incidents in their histories.
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/store/sql/connection.h"
#include "assay/store/sql/rows.h"
#include "assay/store/sql/sql_store.h"

namespace assay::sql {
namespace {

Result<Incident> read_incident(Statement& row) {
  return record_from_text<Incident>(row.text(0), "incident");
}

Result<Revision> read_revision(Statement& row) {
  Revision revision{.repository = row.text(0), .hash = row.text(1)};
  ASSAY_ASSIGN_OR_RETURN(revision.parents,
                         record_from_text<decltype(revision.parents)>(row.text(2), "revision"));
  revision.position = row.integer(3);
  revision.author = row.text(4);
  revision.authored_unix_ns = row.integer(5);
  revision.committed_unix_ns = row.integer(6);
  revision.subject = row.text(7);
  return revision;
}

}  // namespace

Status SqlResultStore::add_repository(const Repository& repository) {
  return connection_.run("INSERT INTO repository VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                         repository.id(), name_of(repository.kind), repository.url,
                         repository.engine);
}

Status SqlResultStore::add_revisions(std::span<const Revision> revisions) {
  return connection_.in_transaction([&]() -> Status {
    for (const auto& revision : revisions) {
      ASSAY_RETURN_IF_ERROR(connection_.run(
          "INSERT INTO revision VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
          "ON CONFLICT (repository, hash) DO UPDATE SET position = excluded.position",
          revision.repository, revision.hash, text_from_record(revision.parents), revision.position,
          revision.author, revision.authored_unix_ns, revision.committed_unix_ns,
          revision.subject));
    }
    return {};
  });
}

Status SqlResultStore::add_engine_build(const RevisionBuild& build) {
  return connection_.run(
      "INSERT INTO engine_build VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", build.id(),
      build.repository, build.revision, build.environment, build.reference(),
      name_of(build.outcome), build.built_unix_ns, text_from_record(build));
}

Status SqlResultStore::add_incident(const Incident& incident) {
  return connection_.run("INSERT INTO incident VALUES (?, ?, ?, ?, ?, ?)", incident.id,
                         incident.repository, incident.opened_unix_ns, name_of(incident.state),
                         incident.changed_unix_ns, text_from_record(incident));
}

Status SqlResultStore::update_incident(const Incident& incident) {
  return connection_.in_transaction([&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(
        const auto stored,
        get_one(connection_.prepare(fmt::format("SELECT document FROM incident WHERE id = ?{}",
                                                connection_.lock_words(RowLock::kChanged)),
                                    incident.id),
                read_incident, fmt::format("no incident '{}' in the store", incident.id)));
    ASSAY_RETURN_IF_ERROR(check_update(stored, incident));
    return connection_.run(
        "UPDATE incident SET state = ?, changed_unix_ns = ?, document = ? WHERE id = ?",
        name_of(incident.state), incident.changed_unix_ns, text_from_record(incident), incident.id);
  });
}

Result<std::vector<Repository>> SqlResultStore::repositories() {
  return collect(connection_.prepare("SELECT kind, url, engine FROM repository ORDER BY rowid"),
                 [](Statement& row) -> Result<Repository> {
                   ASSAY_ASSIGN_OR_RETURN(const auto kind,
                                          enum_from_text<RepositoryKind>(row.text(0)));
                   return Repository{.kind = kind, .url = row.text(1), .engine = row.text(2)};
                 });
}

Result<std::vector<Revision>> SqlResultStore::revisions_of(std::string_view repository_id) {
  return collect(
      connection_.prepare("SELECT repository, hash, parents, position, author, authored_unix_ns, "
                          "committed_unix_ns, subject FROM revision WHERE repository = ? "
                          "ORDER BY position DESC, hash",
                          repository_id),
      read_revision);
}

Result<std::vector<RevisionBuild>> SqlResultStore::engine_builds_of(
    std::string_view repository_id) {
  return collect(
      connection_.prepare("SELECT document FROM engine_build WHERE repository = ? "
                          "ORDER BY built_unix_ns DESC, rowid DESC",
                          repository_id),
      [](Statement& row) { return record_from_text<RevisionBuild>(row.text(0), "engine build"); });
}

Result<std::vector<Incident>> SqlResultStore::incidents_of(std::string_view repository_id) {
  return collect(
      connection_.prepare("SELECT document FROM incident WHERE repository = ? ORDER BY rowid",
                          repository_id),
      read_incident);
}

}  // namespace assay::sql
