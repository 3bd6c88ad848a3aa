#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"

namespace assay {

enum class RepositoryKind : std::uint8_t {
  kGit,
  kHg,
  kWheel,  ///< A Python package; its versions stand for commits.
};

template <>
inline constexpr auto kEnumNames<RepositoryKind> = std::to_array<EnumName<RepositoryKind>>({
    {RepositoryKind::kGit, "git"},
    {RepositoryKind::kHg, "hg"},
    {RepositoryKind::kWheel, "wheel"},
});

/// A repository that is watched, and the engine that is built from it.
struct Repository {
  RepositoryKind kind = RepositoryKind::kGit;
  std::string
      url;  ///< As the mirror fetches it; a folder by its absolute path, a package by its name.
  std::string engine;  ///< "toy": the name of the engine in the identity of cases.
  /// Digest of all of it.
  [[nodiscard]] std::string id() const;
};

/// One commit.
struct Revision {
  std::string repository;  ///< Repository::id()
  std::string hash;        ///< All digits of it.
  std::vector<std::string> parents;
  /// Its place on the branch, 1 for the root: by first parents, or else among all commits, parents
  /// first. Of a branch with merges the latter may change when commits are added.
  std::int64_t position = 0;
  std::string author;
  std::int64_t authored_unix_ns = 0;
  std::int64_t committed_unix_ns = 0;
  std::string subject;
};

/// The name of a revision in the names of builds: the first twelve digits of a hash. A version or
/// another name that is no hash stays whole.
std::string short_hash(const std::string& hash);

ASSAY_DECLARE_JSON(Repository);
ASSAY_DECLARE_JSON(Revision);

}  // namespace assay
