#include "features/repository/git_worktree.h"

#include "features/repository/former_place.h"
#include "features/repository/path_filter.h"
#include "features/repository/version_control.h"

#include <algorithm>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/remove_tree.h"
#include "assay/base/result.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/v1\n";

bool is_pointer(const stdfs::path& file) {
  std::error_code error;
  if (!stdfs::is_regular_file(stdfs::symlink_status(file, error))) {
    return false;
  }
  std::string begin(kPointer.size(), '\0');
  std::ifstream(file, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kPointer;
}

/// Git's own words name the setting, and not how to change it.
Status with_advice(Status status) {
  constexpr std::string_view kRefused = "transport 'file' not allowed";
  if (!status && status.error().message.find(kRefused) != std::string::npos) {
    status.error().message +=
        "; a submodule lies in a folder of this machine, which git takes only after "
        "`git config --global protocol.file.allow always`";
  }
  return status;
}

}  // namespace

std::vector<std::string> git_settings() {
  std::vector<std::string> words;
  for (const char* setting :
       {"core.hooksPath=/dev/null", "core.quotePath=false", "core.autocrlf=false", "core.eol=lf",
        "core.attributesFile=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false",
        "core.sparseCheckout=false", "gc.auto=0", "maintenance.auto=false",
        "submodule.recurse=false", "fetch.recurseSubmodules=false",
        "clone.defaultRemoteName=origin", "init.templateDir=", "log.showSignature=false",
        "i18n.logOutputEncoding=UTF-8", "advice.detachedHead=false"}) {
    words.insert(words.end(), {"-c", setting});
  }
  return words;
}

void remove_left_locks(const stdfs::path& repository) {
  std::error_code error;
  std::vector<stdfs::path> left;
  for (stdfs::recursive_directory_iterator entry(repository, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() == "objects") {
      entry.disable_recursion_pending();
    } else if (entry->path().extension() == ".lock") {
      left.push_back(entry->path());
    }
  }
  for (const auto& file : left) {
    stdfs::remove(file, error);
  }
}

std::vector<std::string> GitWorktree::words(std::vector<std::string> arguments) const {
  auto words = git_settings();
  words.insert(words.end(), {"-C", folder_.string()});
  words.insert(words.end(), std::make_move_iterator(arguments.begin()),
               std::make_move_iterator(arguments.end()));
  return words;
}

Status GitWorktree::run(std::vector<std::string> arguments) const {
  ASSAY_RETURN_IF_ERROR(git_.run(words(std::move(arguments))));
  return {};
}

Result<std::vector<std::string>> GitWorktree::records(std::vector<std::string> arguments) const {
  return git_.records(words(std::move(arguments)));
}

/// "MODE OBJECT STAGE\tPATH"
Result<std::vector<GitWorktree::Link>> GitWorktree::links() const {
  ASSAY_ASSIGN_OR_RETURN(const auto entries, records({"ls-files", "--stage", "-z"}));
  std::vector<Link> links;
  for (const auto& entry : entries) {
    if (const auto tab = entry.find('\t'); entry.starts_with(kLinkMode)) {
      const auto commit = std::string_view(entry).substr(kLinkMode.size());
      links.push_back({.path = entry.substr(tab + 1),
                       .commit = std::string(commit.substr(0, commit.find(' ')))});
    }
  }
  return links;
}

Status GitWorktree::switch_to(const std::string& revision) const {
  ASSAY_ASSIGN_OR_RETURN(const auto before, links());
  ASSAY_RETURN_IF_ERROR(run({"checkout", "--quiet", "--force", "--detach", revision, "--"}));
  ASSAY_RETURN_IF_ERROR(remove_former(before, revision));
  return clean();
}

Status GitWorktree::clean() const {
  const std::vector<std::string> words{"clean", "--quiet", "-ffdx"};
  if (run(words)) {
    return {};
  }
  make_folders_writable(folder_);  // A build may have left some that are not.
  return run(words);
}

/// Where a folder of files has taken the place of a submodule, git leaves those of the submodule.
Status GitWorktree::remove_former(const std::vector<Link>& before,
                                  const std::string& revision) const {
  if (before.empty()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto now, links());
  bool has_removed = false;
  for (const auto& link : before) {
    if (std::ranges::find(now, link.path, &Link::path) == now.end()) {
      ASSAY_RETURN_IF_ERROR(remove_former_place(folder_, link.path));
      has_removed = true;
    }
  }
  return has_removed ? run({"checkout", "--quiet", "--force", "--detach", revision, "--"})
                     : Status();
}

/// Paths that .gitmodules names; "KEY\nVALUE" each.
std::vector<std::string> GitWorktree::paths_of_modules() const {
  if (!stdfs::exists(folder_ / ".gitmodules")) {
    return {};
  }
  auto entries = records({"config", "-z", "--file", (folder_ / ".gitmodules").string(),
                          "--get-regexp", "^submodule\\..*\\.path$"})
                     .value_or(std::vector<std::string>());
  for (auto& entry : entries) {
    entry.erase(0, entry.find('\n') + 1);
  }
  return entries;
}

/// The address of another commit may be in the configuration, and another module at the path.
Status GitWorktree::fetch_modules(const std::vector<Link>& links) const {
  std::vector<std::string> init{"submodule", "--quiet", "init", "--"};
  std::vector<std::string> update{"submodule", "--quiet", "update", "--force", "--"};
  for (const auto& link : links) {
    init.push_back(link.path);
    update.push_back(link.path);
  }
  ASSAY_RETURN_IF_ERROR(run(std::move(init)));
  ASSAY_RETURN_IF_ERROR(run({"submodule", "--quiet", "sync"}));
  return with_advice(run(std::move(update)));
}

bool GitWorktree::is_at(const std::string& commit) const {
  // If the folder had no repository of its own, git would describe the one around it.
  if (!stdfs::exists(folder_ / ".git")) {
    return false;
  }
  const auto head = git_.lines(words({"rev-parse", "HEAD"}));
  return head && !head->empty() && head->front() == commit;
}

Status GitWorktree::update_submodules() const {
  ASSAY_ASSIGN_OR_RETURN(const auto links, this->links());
  const auto known = paths_of_modules();
  std::vector<Link> missing;
  for (const auto& link : links) {
    const bool is_known = std::ranges::find(known, link.path) != known.end();
    if (!is_known || !stdfs::exists(folder_ / link.path / ".git")) {
      ASSAY_RETURN_IF_ERROR(empty_folder(folder_ / link.path));
    }
    if (is_known) {
      missing.push_back(link);
    }
  }
  ASSAY_RETURN_IF_ERROR(bring(std::move(missing)));
  for (const auto& link : links) {
    const GitWorktree module(git_, folder_ / link.path);
    if (stdfs::exists(module.folder_ / ".git")) {
      ASSAY_RETURN_IF_ERROR(module.clean());
      ASSAY_RETURN_IF_ERROR(module.update_submodules());
    }
  }
  return {};
}

/// Twice where need be: one that another commit has left in a state of its own, or that its
/// repository rebases or merges, is checked out when it is made anew.
Status GitWorktree::bring(std::vector<Link> missing) const {
  Status status;
  for (int round = 0; round < 2 && !missing.empty(); ++round) {
    status = fetch_modules(missing);
    std::erase_if(missing, [this](const Link& link) {
      return GitWorktree(git_, folder_ / link.path).is_at(link.commit);
    });
    for (const auto& link : missing) {
      ASSAY_RETURN_IF_ERROR(empty_folder(folder_ / link.path));
    }
  }
  return missing.empty() ? Status() : status;
}

Result<std::vector<std::string>> GitWorktree::own_pointers() const {
  ASSAY_ASSIGN_OR_RETURN(auto kept, records({"ls-files", "-z", "--", ":(attr:filter=lfs)"}));
  std::erase_if(kept, [this](const std::string& path) { return !is_pointer(folder_ / path); });
  return kept;
}

Result<std::vector<std::string>> GitWorktree::pointers(const std::string& prefix) const {
  ASSAY_ASSIGN_OR_RETURN(auto found, own_pointers());
  if (!found.empty()) {
    // Git takes those for the files themselves, and git-lfs may have been installed since.
    for (const auto& path : found) {
      std::error_code ignored;
      stdfs::remove(folder_ / path, ignored);
    }
    ASSAY_RETURN_IF_ERROR(run({"checkout", "--quiet", "--force"}));
    ASSAY_ASSIGN_OR_RETURN(found, own_pointers());
  }
  for (auto& path : found) {
    path.insert(0, prefix);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto links, this->links());
  for (const auto& link : links) {
    if (stdfs::exists(folder_ / link.path / ".git")) {
      ASSAY_ASSIGN_OR_RETURN(
          auto inside,
          GitWorktree(git_, folder_ / link.path).pointers(fmt::format("{}{}/", prefix, link.path)));
      std::ranges::move(inside, std::back_inserter(found));
    }
  }
  return found;
}

Status GitWorktree::check_pointers(const PathFilter& paths) const {
  ASSAY_ASSIGN_OR_RETURN(auto found, pointers(""));
  std::erase_if(found, [&paths](const std::string& path) { return !paths.matches(path); });
  return found.empty()
             ? Status()
             : fail(ErrorCode::kUnavailable,
                    fmt::format("'{}' is in Git LFS, and only its pointer came: install git-lfs "
                                "(apt install git-lfs) and run `git lfs install`, or name it under "
                                "\"exclude\" of \"paths\" in the repository file if no build "
                                "needs it",
                                found.front()));
}

}  // namespace assay
