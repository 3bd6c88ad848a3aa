#include "features/repository/git_mirror.h"

#include "features/repository/git_worktree.h"
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
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/log.h"
#include "assay/base/remove_tree.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kHowToInstallGit = "install it with the system's packages (apt install git)";
constexpr std::int64_t kNsInSecond = 1'000'000'000;
/// Hash, parents, author, times, subject. The end of each field is a NUL, which none can hold.
constexpr const char* kGitFormat = "--format=%H%x00%P%x00%an%x00%at%x00%ct%x00%s";
constexpr std::size_t kFieldsOfRevision = 6;
constexpr std::string_view kRemotePrefix = "origin/";

std::int64_t whole_number(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string> words_of(std::string_view text) {
  auto words = fields_of(text, ' ', text.size() + 1);
  std::erase(words, "");
  return words;
}

Result<std::vector<Revision>> revisions_from_fields(const std::vector<std::string>& fields) {
  if (fields.size() % kFieldsOfRevision != 0) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("git log gave {} fields, {} to a commit, the last of them '{}'",
                            fields.size(), kFieldsOfRevision, fields.back()));
  }
  std::vector<Revision> revisions;
  for (auto field = fields.begin(); field != fields.end(); field += kFieldsOfRevision) {
    revisions.push_back({.hash = field[0],
                         .parents = words_of(field[1]),
                         .author = field[2],
                         .authored_unix_ns = whole_number(field[3]) * kNsInSecond,
                         .committed_unix_ns = whole_number(field[4]) * kNsInSecond,
                         .subject = field[5]});
  }
  return revisions;
}

void extend(std::vector<std::string>& words, std::vector<std::string> more) {
  words.insert(words.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

}  // namespace

GitMirror::GitMirror(const RepositorySpec& spec, const stdfs::path& folder)
    : git_("git", kHowToInstallGit),
      repository_id_(spec.repository.id()),
      url_(spec.repository.url),
      branch_(spec.branch),
      follows_first_parents_(spec.follows_first_parents),
      paths_(spec.paths),
      folder_(folder) {}

std::vector<std::string> GitMirror::in_mirror(std::vector<std::string> arguments) const {
  auto words = git_settings();
  words.push_back("--git-dir=" + folder_.string());
  extend(words, std::move(arguments));
  return words;
}

Status GitMirror::make() {
  if (!stdfs::exists(folder_ / "HEAD")) {
    std::error_code error;
    stdfs::create_directories(folder_.parent_path(), error);
    ASSAY_RETURN_IF_ERROR(git_.run({"init", "--quiet", "--bare", "--template=", folder_.string()}));
  }
  remove_left_locks(folder_);
  ASSAY_RETURN_IF_ERROR(git_.run(in_mirror({"config", "remote.origin.url", origin()})));
  return {};
}

/// The address to which those of submodules and of Git LFS are relative: as for a clone of it, but
/// a checkout on this machine has its submodules from where it came itself.
std::string GitMirror::origin() const {
  std::error_code ignored;
  if (!stdfs::exists(stdfs::path(url_) / ".git", ignored)) {
    return url_;
  }
  const auto own = git_.lines({"-C", url_, "config", "--get", "remote.origin.url"});
  if (!own || own->empty()) {
    return url_;
  }
  const bool is_relative = own->front().starts_with("./") || own->front().starts_with("../");
  return is_relative ? (stdfs::path(url_) / own->front()).lexically_normal().string()
                     : own->front();
}

Result<std::map<std::string, std::string>> GitMirror::tips() {
  ASSAY_ASSIGN_OR_RETURN(
      const auto lines,
      git_.lines(
          in_mirror({"for-each-ref", "--format=%(objectname) %(refname:strip=2)", "refs/heads"})));
  std::map<std::string, std::string> tips;
  for (const auto& line : lines) {
    const auto fields = fields_of(line, ' ', 2);
    tips[fields.back()] = fields.front();
  }
  return tips;
}

/// A branch whose old tip does not lead to the new one was replaced; a reference keeps the old one,
/// and that of a branch that is gone.
Result<std::vector<std::string>> GitMirror::keep_rewritten(
    const std::map<std::string, std::string>& before,
    const std::map<std::string, std::string>& after) {
  std::vector<std::string> rewritten;
  for (const auto& [branch, old_tip] : before) {
    const auto now = after.find(branch);
    if (now != after.end() && now->second == old_tip) {
      continue;
    }
    bool is_ancestor = false;
    if (now != after.end()) {
      ASSAY_ASSIGN_OR_RETURN(
          is_ancestor,
          git_.succeeds(in_mirror({"merge-base", "--is-ancestor", old_tip, now->second})));
    }
    if (!is_ancestor) {
      ASSAY_RETURN_IF_ERROR(
          git_.run(in_mirror({"update-ref", "refs/assay/before/" + old_tip, old_tip})));
      if (now != after.end()) {
        rewritten.push_back(branch);
      }
    }
  }
  return rewritten;
}

/// The branch of the file, or the one that HEAD of the repository names.
Result<std::string> GitMirror::find_branch() {
  if (!branch_.empty()) {
    return branch_;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto lines,
                         git_.lines(in_mirror({"ls-remote", "--symref", "--", url_, "HEAD"})));
  constexpr std::string_view kBegin = "ref: refs/heads/";
  for (const auto& line : lines) {
    if (line.starts_with(kBegin)) {
      return line.substr(kBegin.size(), line.find('\t') - kBegin.size());
    }
  }
  return fail(
      ErrorCode::kNotFound,
      fmt::format("'{}' names no branch of its own: give \"branch\" in \"repository\"", url_));
}

/// A branch of a shallow clone is not fetched: its commits would have other positions in each
/// clone.
Error GitMirror::missing_branch(const std::string& branch) const {
  std::error_code ignored;
  const bool is_folder = stdfs::is_directory(url_, ignored);
  const auto told = is_folder ? git_.run({"-C", url_, "rev-parse", "--is-shallow-repository"})
                              : Result<std::string>("");
  if (told && told->starts_with("true")) {
    return {ErrorCode::kUnsupported,
            fmt::format("'{}' is a shallow clone, and its history is cut; complete it with `git -C "
                        "{} fetch --unshallow`",
                        url_, url_)};
  }
  return {ErrorCode::kNotFound, fmt::format("'{}' has no branch '{}'", url_, branch)};
}

Result<MirrorUpdate> GitMirror::update() {
  ASSAY_ASSIGN_OR_RETURN(const auto lock, PlaceLock::acquire(folder_.string() + ".lock", {}));
  ASSAY_RETURN_IF_ERROR(make());
  ASSAY_ASSIGN_OR_RETURN(const auto before, tips());
  const auto fetched =
      git_.run(in_mirror({"fetch", "--quiet", "--prune", "--no-tags", "--force", "--", url_,
                          "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}));
  if (!fetched) {
    return fail_with_context(fetched.error(), fmt::format("fetching '{}'", url_));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto after, tips());
  MirrorUpdate update;
  ASSAY_ASSIGN_OR_RETURN(update.rewritten, keep_rewritten(before, after));
  ASSAY_ASSIGN_OR_RETURN(const auto branch, find_branch());
  const auto tip = after.find(branch);
  if (tip == after.end()) {
    return std::unexpected(missing_branch(branch));
  }
  ASSAY_RETURN_IF_ERROR(git_.run(in_mirror({"symbolic-ref", "HEAD", "refs/heads/" + branch})));
  pack();
  update.tip = tip->second;
  return update;
}

/// A pack of each fetch, for years, would make everything slow. What is reachable from nothing
/// stays as well.
void GitMirror::pack() const {
  const auto packed = git_.run(
      in_mirror({"-c", "gc.auto=6700", "-c", "gc.autoPackLimit=50", "-c", "gc.autoDetach=false",
                 "-c", "gc.pruneExpire=never", "-c", "gc.worktreePruneExpire=never", "-c",
                 "gc.reflogExpire=never", "gc", "--quiet", "--auto"}));
  if (!packed) {  // On a full disk, for example: the next fetch tries again.
    log_line(LogLevel::kDebug, packed.error().message);
  }
}

Result<std::string> GitMirror::find_commit(std::string_view name) const {
  ASSAY_ASSIGN_OR_RETURN(
      const auto lines,
      git_.lines(in_mirror({"rev-parse", "--verify", "--quiet", "--end-of-options",
                            fmt::format("{}^{{commit}}", name)})));
  return lines.empty() ? Result<std::string>(fail(ErrorCode::kNotFound, "")) : lines.front();
}

Result<std::string> GitMirror::resolve(std::string_view name) {
  const bool is_remote = name.starts_with(kRemotePrefix);
  const auto own = is_remote ? name.substr(kRemotePrefix.size()) : name;
  auto found = find_commit(name);  // A branch may have the prefix in its name.
  if (!found && is_remote) {
    found = find_commit(own);
  }
  if (!found) {
    if (!stdfs::exists(folder_ / "HEAD")) {
      return fail(ErrorCode::kNotFound, fmt::format("nothing was fetched from '{}' yet", url_));
    }
    const auto names = git_.lines(
        in_mirror({"for-each-ref", "--format=%(refname:strip=2)", "refs/heads", "refs/tags"}));
    const auto nearest = find_nearest_name(own, names.value_or(std::vector<std::string>()));
    return fail(ErrorCode::kNotFound,
                fmt::format("no commit '{}' in '{}'; {}", name, url_,
                            nearest.empty() ? "name a hash, a branch, a tag, or HEAD~3"
                                            : fmt::format("did you mean '{}'?", nearest)));
  }
  return found;
}

Result<std::map<std::string, std::int64_t>> GitMirror::positions(const std::string& tip) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto hashes,
      git_.lines(in_mirror({"rev-list", "--topo-order", "--reverse", tip, "--"})));
  std::map<std::string, std::int64_t> positions;
  for (const auto& hash : hashes) {
    positions.emplace(hash, static_cast<std::int64_t>(positions.size()) + 1);
  }
  return positions;
}

Result<std::vector<Revision>> GitMirror::log(const RevisionRange& range) {
  std::vector<std::string> arguments{"log", "-z", kGitFormat, "--topo-order"};
  if (follows_first_parents_) {
    arguments.emplace_back("--first-parent");
  }
  if (range.limit >= 0) {
    arguments.push_back(fmt::format("--max-count={}", range.limit));
  }
  arguments.push_back(range.tip);
  if (!range.since.empty()) {
    arguments.push_back("^" + range.since);
  }
  arguments.emplace_back("--");
  ASSAY_ASSIGN_OR_RETURN(const auto fields, git_.records(in_mirror(std::move(arguments))));
  ASSAY_ASSIGN_OR_RETURN(auto revisions, revisions_from_fields(fields));
  for (auto& revision : revisions) {
    revision.repository = repository_id_;
  }
  if (!follows_first_parents_) {
    ASSAY_ASSIGN_OR_RETURN(const auto known, positions(range.tip));
    for (auto& revision : revisions) {
      revision.position = known.at(revision.hash);
    }
    std::ranges::sort(revisions, std::greater(), &Revision::position);
    return revisions;
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto count,
      git_.run(in_mirror({"rev-list", "--count", "--first-parent", range.tip, "--"})));
  auto position = whole_number(count);
  for (auto& revision : revisions) {
    revision.position = position--;
  }
  return revisions;
}

Result<std::vector<std::string>> GitMirror::changed_files(const std::string& revision) {
  // ":MODE MODE ID ID STATUS", then the path.
  ASSAY_ASSIGN_OR_RETURN(
      const auto fields,
      git_.records(in_mirror({"diff-tree", "--root", "--no-commit-id", "--raw", "-z", "-r", "-m",
                              "--first-parent", "--no-renames", revision, "--"})));
  std::vector<std::string> files;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const bool is_submodule = fields[i].find(kLinkMode) != std::string::npos;
    files.push_back(fields[i + 1] + (is_submodule ? "/" : ""));
  }
  return files;
}

Result<std::string> GitMirror::content_digest(const std::string& revision,
                                              const PathFilter& paths) {
  // "MODE TYPE ID\tPATH"; a submodule is a line with the id of its commit.
  ASSAY_ASSIGN_OR_RETURN(const auto lines,
                         git_.records(in_mirror({"ls-tree", "-r", "-z", "--full-tree", revision})));
  std::string content;
  for (const auto& line : lines) {
    const auto path = line.substr(line.find('\t') + 1);
    if (paths.matches(line.starts_with(kLinkMode) ? path + "/" : path)) {
      content += line + '\n';
    }
  }
  return sha256_hex(content);
}

Status GitMirror::add_worktree(const std::string& revision, const stdfs::path& folder) {
  ASSAY_RETURN_IF_ERROR(remove_tree(folder));
  std::error_code error;
  stdfs::create_directories(folder.parent_path(), error);
  ASSAY_RETURN_IF_ERROR(git_.run(in_mirror({"worktree", "prune"})));
  ASSAY_RETURN_IF_ERROR(git_.run(
      in_mirror({"worktree", "add", "--quiet", "--force", "--detach", folder.string(), revision})));
  return {};
}

Status GitMirror::check_out(const std::string& revision, const stdfs::path& folder) {
  ASSAY_ASSIGN_OR_RETURN(const auto lock, PlaceLock::acquire(folder_.string() + ".lock", {}));
  // Whoever was killed here left its locks; the folder is ours alone.
  remove_left_locks(folder_);
  const GitWorktree worktree(git_, folder);
  const bool is_there = stdfs::exists(folder / ".git");
  auto status = is_there ? worktree.switch_to(revision) : add_worktree(revision, folder);
  if (!status && is_there) {
    log_line(LogLevel::kDebug, status.error().message);
    status = add_worktree(revision, folder);
  }
  ASSAY_RETURN_IF_ERROR(status);
  ASSAY_RETURN_IF_ERROR(worktree.update_submodules());
  return worktree.check_pointers(paths_);
}

}  // namespace assay
