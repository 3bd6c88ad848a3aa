#include "assay/engines/openvino/program_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"

namespace assay::openvino {
namespace {

namespace stdfs = std::filesystem;

/// A number that an attribute holds, and where it ends; npos: there is none.
struct Attribute {
  std::uint64_t value = 0;
  std::size_t end = std::string_view::npos;
};

/// The first `name="…"` at or behind `at`.
Attribute next_attribute(std::string_view text, std::string_view name, std::size_t at) {
  const auto opening = std::string(name) + "=\"";
  const auto found = text.find(opening, at);
  if (found == std::string_view::npos) {
    return {};
  }
  Attribute attribute;
  const char* begin = text.data() + found + opening.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), attribute.value);
  attribute.end = static_cast<std::size_t>(end - text.data());
  return error == std::errc() ? attribute : Attribute{};
}

/// How long the weights must be: constants say where theirs lie, offset before size.
std::uint64_t needed_weights(std::string_view xml) {
  std::uint64_t needed = 0;
  auto offset = next_attribute(xml, " offset", 0);
  while (offset.end != std::string_view::npos) {
    const auto size = next_attribute(xml, " size", offset.end);
    needed = std::max(needed, offset.value + size.value);
    offset = next_attribute(xml, " offset", offset.end);
  }
  return needed;
}

stdfs::path weights_of(const LoadRequest& request) {
  const auto is_weights = [](const stdfs::path& path) { return path.extension() == ".bin"; };
  const auto given = std::ranges::find_if(request.data, is_weights);
  if (given != request.data.end()) {
    return *given;
  }
  auto beside = request.entry;
  beside.replace_extension(".bin");
  return stdfs::exists(beside) ? beside : stdfs::path();
}

Result<ProgramFiles> check_ir(const LoadRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const std::string xml, read_file(request.entry));
  if (xml.find("<net") == std::string::npos || xml.find("</net>") == std::string::npos) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} ({} bytes) is no whole OpenVINO IR: it lacks {}; make it again",
                            request.entry.string(), xml.size(),
                            xml.find("<net") == std::string::npos ? "<net>" : "</net>"));
  }
  ProgramFiles files{.entry = request.entry, .weights = weights_of(request)};
  const auto needed = needed_weights(xml);
  if (needed == 0) {
    return files;
  }
  std::error_code error;
  const auto size = files.weights.empty() ? 0 : stdfs::file_size(files.weights, error);
  if (files.weights.empty() || error) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has its weights in a .bin file, which is not beside it",
                            request.entry.string()));
  }
  if (size < needed) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} is truncated or of another program: {} bytes of {}; make it again",
                            files.weights.string(), size, needed));
  }
  return files;
}

/// Reads no more than it looks at: the load is timed, and the rest may lie on a cold disk.
Result<ProgramFiles> check_tflite(const LoadRequest& request, std::uintmax_t size) {
  constexpr std::string_view kIdentifier = "TFL3";
  std::array<char, 8> begin{};
  std::ifstream file(request.entry, std::ios::binary);
  file.rdbuf()->pubsetbuf(nullptr, 0);
  if (!file.read(begin.data(), begin.size()) ||
      std::string_view(begin.data(), begin.size()).substr(4) != kIdentifier) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{} ({} bytes) is no TensorFlow Lite program: the identifier '{}' is "
                            "not at byte 4",
                            request.entry.string(), size, kIdentifier));
  }
  return ProgramFiles{.entry = request.entry, .weights = {}};
}

}  // namespace

Result<ProgramFiles> find_program_files(const LoadRequest& request) {
  const auto& entry = request.entry;
  std::error_code error;
  const auto size = stdfs::file_size(entry, error);
  if (error) {
    const auto code = error == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound
                                                                    : ErrorCode::kUnavailable;
    return fail(code, fmt::format("{}: {}", entry.string(), error.message()));
  }
  if (size == 0) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is empty; make it again", entry.string()));
  }
  if (entry.extension() == ".xml") {
    return check_ir(request);
  }
  if (entry.extension() == ".tflite") {
    return check_tflite(request, size);
  }
  if (entry.extension() == ".onnx") {
    return ProgramFiles{.entry = entry, .weights = {}};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: OpenVINO loads .xml, .onnx and .tflite", entry.string()));
}

}  // namespace assay::openvino
