#include "assay/artifact/job_box.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/artifact/toolchain.h"
#include "assay/base/json.h"
#include "assay/base/user_home.h"
#include "assay/record/sandbox.h"
#include "assay/spec/program_files.h"
#include "assay/spec/program_format.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kOutFolder = "out_dir";

void add_texts(const Json& json, std::vector<std::string>& texts) {
  if (json.is_string()) {
    texts.push_back(json.get<std::string>());
    return;
  }
  for (const auto& one : json) {
    if (one.is_string() || one.is_structured()) {
      add_texts(one, texts);
    }
  }
}

bool is_from_elsewhere(const std::string& file) {
  return file.ends_with(".pt2") || find_program_format(file).has_value();
}

bool is_python(const std::string& file) { return file.ends_with(".py"); }

/// Not where whoever made the model would choose which file of the user it reads.
bool leads_to_its_own(const stdfs::path& part, const stdfs::path& model) {
  std::error_code error;
  return is_within(part, model.parent_path()) ||
         is_within(part, stdfs::weakly_canonical(model, error).parent_path()) ||
         is_in_user_cache(part);
}

void open_file(const std::string& file, std::vector<std::string>& readable) {
  const stdfs::path path(file);
  readable.push_back(file);
  std::error_code error;
  if (stdfs::is_directory(path, error)) {
    return;
  }
  const auto folder = path.parent_path();
  readable.push_back(folder.string());
  const auto parts = find_program_files(path);
  if (!parts) {
    return;
  }
  // One by one if the folder stays closed, such as the home, or if they are links.
  const bool is_open = is_opened_as_a_whole(folder);
  for (const auto& part : *parts) {
    const auto part_path = folder / part.name;
    const bool is_link = stdfs::is_symlink(part_path, error);
    if ((!is_open || is_link) && leads_to_its_own(part_path, path)) {
      readable.push_back(part_path.string());
    }
  }
}

}  // namespace

std::vector<std::string> files_of_request(Json request) {
  request.erase(kOutFolder);
  std::vector<std::string> texts;
  add_texts(request, texts);
  std::vector<std::string> files;
  for (const auto& text : texts) {
    constexpr std::string_view kFile = "file:";
    const auto ref = text.starts_with(kFile) ? text.substr(kFile.size()) : text;
    const auto file = find_model_file(ref).value_or(ref);
    std::error_code error;
    if (stdfs::path(file).is_absolute() && stdfs::exists(file, error)) {
      files.push_back(file);
    }
  }
  return files;
}

SandboxRequest box_of_job(const Json& request, const Toolchain& toolchain,
                          std::optional<SandboxMode> asked) {
  const auto files = files_of_request(request);
  const bool is_untrusted = std::ranges::any_of(files, is_from_elsewhere) &&
                            std::ranges::none_of(files, is_python) && !toolchain.reads.empty();
  SandboxRequest box{.mode = asked.value_or(is_untrusted ? SandboxMode::kOn : SandboxMode::kOff)};
  if (box.mode == SandboxMode::kOff) {
    return box;
  }
  box.readable = toolchain.reads;
  box.readable.push_back(toolchain.python.string());
  for (const auto& file : files) {
    open_file(file, box.readable);
  }
  if (const auto folder = request.find(kOutFolder); folder != request.end()) {
    box.writable.push_back(folder->get<std::string>());
  }
  std::ranges::sort(box.readable);
  box.readable.erase(std::ranges::unique(box.readable).begin(), box.readable.end());
  return box;
}

}  // namespace assay
