#include "features/repository/hg_mirror.h"

#include "features/repository/former_place.h"
#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/place_lock.h"
#include "features/repository/repository_spec.h"
#include "features/repository/version_control.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/relative_path.h"
#include "assay/base/remove_tree.h"
#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kHowToInstallHg =
    "install it with the system's packages (apt install mercurial) or with pip install mercurial";
constexpr char kHgUnit = '\x1f';
constexpr const char* kHgTemplate =
    "{node}\\x1f{p1node}\\x1f{p2node}\\x1f{author|person}\\x1f{date|hgdate}\\x1f"
    "{desc|firstline}\\n";
constexpr std::size_t kFieldsOfChange = 6;
constexpr std::string_view kNoParent = "0000000000000000000000000000000000000000";

Result<Revision> revision_from_change(const std::string& line) {
  const auto fields = fields_of(line, kHgUnit, kFieldsOfChange);
  if (fields.size() != kFieldsOfChange) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("hg log gave a line that describes no commit: '{}'", line));
  }
  Revision revision{.hash = fields[0], .author = fields[3], .subject = fields[5]};
  for (const auto& parent : {fields[1], fields[2]}) {
    if (parent != kNoParent) {
      revision.parents.push_back(parent);
    }
  }
  std::int64_t seconds = 0;
  std::from_chars(fields[4].data(), fields[4].data() + fields[4].size(), seconds);
  revision.authored_unix_ns = seconds * 1'000'000'000;
  revision.committed_unix_ns = revision.authored_unix_ns;
  return revision;
}

/// The names of those that lead to `since`, which are left out.
std::set<std::string> hashes_of(const std::vector<Revision>& revisions) {
  std::set<std::string> hashes;
  for (const auto& revision : revisions) {
    hashes.insert(revision.hash);
  }
  return hashes;
}

/// The file that Mercurial keeps of subrepositories: lines "HASH PATH".
constexpr const char* kInnerStates = ".hgsubstate";

/// Paths of subrepositories.
std::set<std::string> inner_repositories(const stdfs::path& folder) {
  std::set<std::string> paths;
  for (const auto& line : lines_of(read_file(folder / kInnerStates).value_or(""))) {
    const auto path = stdfs::path(fields_of(line, ' ', 2).back()).lexically_normal();
    if (stays_below(path) && path.filename() != ".") {
      paths.insert(path.string());
    }
  }
  return paths;
}

/// The content of a file of a revision. A link may lead to a folder, out of the files or nowhere:
/// where it leads is its content.
Result<std::string> digest_of_file(const stdfs::path& file) {
  std::error_code error;
  return stdfs::is_symlink(file, error) ? sha256_hex(stdfs::read_symlink(file, error).string())
                                        : sha256_hex_of_file(file);
}

/// The first parents of the last one, newest first.
std::vector<Revision> first_parents(const std::vector<Revision>& parents_first) {
  std::vector<Revision> chain;
  std::string wanted = parents_first.empty() ? "" : parents_first.back().hash;
  for (auto i = parents_first.size(); i-- > 0;) {
    if (parents_first[i].hash == wanted) {
      chain.push_back(parents_first[i]);
      wanted = chain.back().parents.empty() ? "" : chain.back().parents.front();
    }
  }
  auto position = static_cast<std::int64_t>(chain.size());
  for (auto& revision : chain) {
    revision.position = position--;
  }
  return chain;
}

}  // namespace

HgMirror::HgMirror(const RepositorySpec& spec, const stdfs::path& folder)
    : hg_("hg", kHowToInstallHg),
      repository_id_(spec.repository.id()),
      url_(spec.repository.url),
      branch_(spec.branch.empty() ? "default" : spec.branch),
      follows_first_parents_(spec.follows_first_parents),
      folder_(folder) {}

std::vector<std::string> HgMirror::in_mirror(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"--repository", folder_.string(), "--noninteractive"});
  return arguments;
}

/// Beside its place first: a clone whose process is killed is no repository.
Result<std::string> HgMirror::clone(const std::string& from, const stdfs::path& folder) const {
  const stdfs::path part = folder.string() + ".part";
  ASSAY_RETURN_IF_ERROR(remove_tree(part));
  ASSAY_RETURN_IF_ERROR(make_folder(folder.parent_path()));
  ASSAY_ASSIGN_OR_RETURN(auto words, hg_.run({"clone", "--quiet", "--noupdate", "--noninteractive",
                                              "--pull", "--", from, part.string()}));
  ASSAY_RETURN_IF_ERROR(remove_tree(folder));
  std::error_code error;
  stdfs::rename(part, folder, error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot make '{}': {}", folder.string(), error.message()));
  }
  return words;
}

Result<MirrorUpdate> HgMirror::update() {
  ASSAY_ASSIGN_OR_RETURN(const auto lock, PlaceLock::acquire(folder_.string() + ".lock", {}));
  const auto fetched = stdfs::exists(folder_ / ".hg")
                           ? hg_.run(in_mirror({"pull", "--quiet", "--", url_}))
                           : clone(url_, folder_);
  if (!fetched) {
    return fail_with_context(fetched.error(), fmt::format("fetching '{}'", url_));
  }
  MirrorUpdate update;
  // Changes are public once they are pulled, and history stays: a branch has a further head where
  // somebody replaced it, and the newest counts.
  ASSAY_ASSIGN_OR_RETURN(update.tip, resolve("HEAD"));
  return update;
}

Result<std::string> HgMirror::resolve(std::string_view name) {
  std::string wanted = name == "HEAD" ? branch_ : std::string(name);
  if (wanted.starts_with("HEAD~")) {
    wanted.replace(0, std::string_view("HEAD").size(), branch_);
  }
  const auto found =
      hg_.lines(in_mirror({"log", "--limit", "1", "--template", "{node}\n", "--rev", wanted}));
  if (!found || found->empty()) {
    if (!found && found.error().message.find("not installed") != std::string::npos) {
      return std::unexpected(found.error());
    }
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no commit '{}' in '{}'; name a hash, a branch, a tag, or HEAD~3", name, url_));
  }
  return found->front();
}

Result<std::vector<Revision>> HgMirror::ancestors(const std::string& tip) {
  ASSAY_ASSIGN_OR_RETURN(const auto lines,
                         hg_.lines(in_mirror({"log", "--template", kHgTemplate, "--rev",
                                              fmt::format("sort(ancestors({}), rev)", tip)})));
  std::vector<Revision> revisions;
  for (const auto& line : lines) {
    ASSAY_ASSIGN_OR_RETURN(auto revision, revision_from_change(line));
    revision.repository = repository_id_;
    revision.position = static_cast<std::int64_t>(revisions.size()) + 1;
    revisions.push_back(std::move(revision));
  }
  return revisions;
}

Result<std::vector<Revision>> HgMirror::log(const RevisionRange& range) {
  ASSAY_ASSIGN_OR_RETURN(auto revisions, ancestors(range.tip));
  if (follows_first_parents_) {
    revisions = first_parents(revisions);
  } else {
    std::ranges::reverse(revisions);
  }
  if (!range.since.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto before, ancestors(range.since));
    const auto left_out = hashes_of(before);
    std::erase_if(revisions, [&left_out](const Revision& revision) {
      return left_out.contains(revision.hash);
    });
  }
  if (range.limit >= 0 && revisions.size() > static_cast<std::size_t>(range.limit)) {
    revisions.resize(static_cast<std::size_t>(range.limit));
  }
  return revisions;
}

Result<std::vector<std::string>> HgMirror::changed_files(const std::string& revision) {
  return hg_.lines(in_mirror({"status", "--no-status", "--change", revision}));
}

stdfs::path HgMirror::digest_folder() const { return folder_.string() + "-files"; }

/// Ids of files in Mercurial depend on their history, so that a revert has others: the files
/// themselves are read.
Result<std::string> HgMirror::content_digest(const std::string& revision, const PathFilter& paths) {
  ASSAY_ASSIGN_OR_RETURN(const auto lock, PlaceLock::acquire(folder_.string() + ".lock", {}));
  ASSAY_RETURN_IF_ERROR(update_clone(revision, digest_folder()));
  // "LETTER FLAGS PATH": executable files and links have flags.
  ASSAY_ASSIGN_OR_RETURN(
      const auto lines,
      hg_.lines(in_mirror({"files", "--rev", revision, "--template", "{flags}\t{path}\n"})));
  std::string content;
  for (const auto& line : lines) {
    const auto path = line.substr(line.find('\t') + 1);
    if (paths.matches(path)) {
      ASSAY_ASSIGN_OR_RETURN(const auto digest, digest_of_file(digest_folder() / path));
      content += digest + line + '\n';
    }
  }
  for (const auto& line : lines_of(read_file(digest_folder() / kInnerStates).value_or(""))) {
    if (paths.matches(line.substr(line.find(' ') + 1) + "/")) {
      content += line + '\n';
    }
  }
  return sha256_hex(content);
}

Status HgMirror::check_out(const std::string& revision, const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto lock, PlaceLock::acquire(folder_.string() + ".lock", {}));
  return update_clone(revision, folder);
}

Status HgMirror::update_clone(const std::string& revision, const stdfs::path& folder) const {
  if (!stdfs::exists(folder / ".hg")) {
    ASSAY_RETURN_IF_ERROR(clone(folder_.string(), folder));
  } else {
    ASSAY_RETURN_IF_ERROR(run_in(folder, {"pull", "--quiet", "--", folder_.string()}));
  }
  const auto before = inner_repositories(folder);
  // Addresses of subrepositories are relative to where all came from.
  ASSAY_RETURN_IF_ERROR(run_in(folder, {"update", "--quiet", "--clean", "--rev", revision,
                                        "--config", "paths.default=" + url_}));
  const auto now = inner_repositories(folder);
  for (const auto& former : before) {
    if (!now.contains(former)) {
      ASSAY_RETURN_IF_ERROR(remove_former_place(folder, former));  // Mercurial leaves them.
    }
  }
  return purge(folder);
}

Status HgMirror::run_in(const stdfs::path& folder, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"--repository", folder.string(), "--noninteractive"});
  ASSAY_RETURN_IF_ERROR(hg_.run(std::move(arguments)));
  return {};
}

/// Removes what no revision has, in subrepositories as well.
Status HgMirror::purge(const stdfs::path& folder) const {
  const std::vector<std::string> words{"--config", "extensions.purge=", "purge", "--all"};
  if (!run_in(folder, words)) {
    make_folders_writable(folder);  // A build may have left some that are not.
    ASSAY_RETURN_IF_ERROR(run_in(folder, words));
  }
  for (const auto& inner : inner_repositories(folder)) {
    if (stdfs::exists(folder / inner / ".hg")) {
      ASSAY_RETURN_IF_ERROR(purge(folder / inner));
    }
  }
  return {};
}

}  // namespace assay
