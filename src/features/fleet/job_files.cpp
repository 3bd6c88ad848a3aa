#include "features/fleet/job_files.h"

#include "features/fleet/artifact_store.h"

#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "assay/artifact/cache.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/campaign/preparation.h"
#include "assay/record/artifact_role.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Files of one folder, by name and digest.
struct FileTree {
  stdfs::path folder;  ///< Their folder on the driver's host.
  Json files = Json::array();
  Json document;  ///< Written next to them; null: none.
  std::string document_name;

  void add(const std::string& name, const std::string& sha256) {
    files.push_back({{"name", name}, {"sha256", sha256}});
  }
  [[nodiscard]] std::string key() const {
    return digest_of_json({{"files", files}, {"document", document}});
  }
};

FileTree tree_of(const Artifact& artifact) {
  FileTree tree{
      .folder = artifact.folder, .document = artifact.manifest, .document_name = "manifest.json"};
  for (const auto& file : artifact.files) {
    if (file.role != kNamedRole) {
      tree.add(file.name, file.sha256);
    }
  }
  return tree;
}

FileTree tree_of(const Reference& reference) {
  FileTree tree{.folder = reference.folder,
                .document = reference.document,
                .document_name = "reference.json"};
  for (const auto& file : reference.document.value("files", Json::array())) {
    tree.add(file.at("name").get<std::string>(), file.at("sha256").get<std::string>());
  }
  return tree;
}

/// A runner reads the inputs of a case by itself where no toolchain has.
bool reads_input_file(const PreparedCase& prepared) {
  return prepared.references.empty() && prepared.cell.inputs.generator == "file";
}

FileTree tree_of_inputs(const InputSet& inputs) {
  const stdfs::path file(inputs.file);
  FileTree tree{.folder = file.parent_path()};
  tree.add(file.filename().string(), inputs.file_sha256);
  return tree;
}

/// Visits every folder that a case refers to.
Status for_each_folder(PreparedCase& prepared,
                       const std::function<Status(const FileTree&, std::string& folder)>& visit) {
  if (prepared.artifact) {
    ASSAY_RETURN_IF_ERROR(visit(tree_of(*prepared.artifact), prepared.artifact->folder));
  }
  for (auto& [kind, reference] : prepared.references) {
    ASSAY_RETURN_IF_ERROR(visit(tree_of(reference), reference.folder));
  }
  if (reads_input_file(prepared)) {
    auto& inputs = prepared.cell.inputs;
    std::string folder;
    ASSAY_RETURN_IF_ERROR(visit(tree_of_inputs(inputs), folder));
    inputs.file = (stdfs::path(folder) / stdfs::path(inputs.file).filename()).string();
  }
  if (prepared.pieces) {
    auto pieces = *prepared.pieces;
    ASSAY_RETURN_IF_ERROR(for_each_folder(pieces, visit));
    prepared.pieces = std::make_shared<const PreparedCase>(std::move(pieces));
  }
  return {};
}

/// Other programs of the scenario are those of the driver's host.
Status check_can_travel(const Case& cell) {
  return cell.scenario.contains("beside")
             ? fail(ErrorCode::kUnsupported,
                    fmt::format("{}: a program that runs beside ({}) cannot be brought to the "
                                "devices of a fleet yet; leave out the executor",
                                label_of(cell), cell.scenario.at("beside").dump()))
             : Status();
}

Status fetch_into(const stdfs::path& staging, const FileTree& tree, ArtifactStore& store) {
  for (const auto& file : tree.files) {
    const auto name = file.at("name").get<std::string>();
    if (!stays_below(name)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("a job names the file '{}', which lies outside of its folder", name));
    }
    const auto target = staging / name;
    std::error_code error;
    stdfs::create_directories(target.parent_path(), error);
    ASSAY_RETURN_IF_ERROR(store.get(file.at("sha256").get<std::string>(), target));
  }
  if (tree.document.is_object() && !tree.document.empty()) {
    ASSAY_RETURN_IF_ERROR(
        write_file_atomically(staging / tree.document_name, tree.document.dump()));
  }
  const Json list = {{"files", tree.files}};
  return write_file_atomically(staging / kFileList, list.dump());
}

/// The folder of the tree in the cache; fetched where it is not there, or damaged.
Result<stdfs::path> folder_from_store(const FileTree& tree, ArtifactStore& store,
                                      const ArtifactCache& cache) {
  const auto key = tree.key();
  const auto find = [&] { return cache.find_files(key); };
  if (auto found = find(); found && *found) {
    return **found;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto staging, cache.make_staging_folder(key));
  ASSAY_RETURN_IF_ERROR(fetch_into(staging, tree, store));
  ASSAY_ASSIGN_OR_RETURN([[maybe_unused]] const auto before, cache.adopt(key, staging, kFileList));
  ASSAY_ASSIGN_OR_RETURN(const auto folder, find());
  return folder ? Result<stdfs::path>(*folder)
                : fail(ErrorCode::kUnavailable, "the cache lost what was brought there; try again");
}

}  // namespace

Status put_files(const PreparedCase& prepared, ArtifactStore& store, std::set<std::string>& known) {
  ASSAY_RETURN_IF_ERROR(check_can_travel(prepared.cell));
  auto copy = prepared;
  return for_each_folder(copy, [&](const FileTree& tree, std::string& /*folder*/) -> Status {
    for (const auto& file : tree.files) {
      const auto sha256 = file.at("sha256").get<std::string>();
      if (known.insert(sha256).second) {
        const auto path = tree.folder / file.at("name").get<std::string>();
        ASSAY_RETURN_IF_ERROR(store.put(path, sha256));
      }
    }
    return {};
  });
}

Status get_files(PreparedCase& prepared, ArtifactStore& store, const ArtifactCache& cache) {
  return for_each_folder(prepared, [&](const FileTree& tree, std::string& folder) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const auto path, folder_from_store(tree, store, cache));
    folder = path.string();
    return {};
  });
}

}  // namespace assay
