#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"

namespace assay {

/// One option that an engine takes. `values`: the allowed ones; empty: any of the type, for an int
/// from `minimum` to `maximum`.
struct OptionSchema {
  std::string name;
  std::string type;  ///< "int", "bool", "string"
  Json values = Json::array();
  std::optional<std::int64_t> minimum;
  std::optional<std::int64_t> maximum;
  Json default_value;
  std::string scope;  ///< "load" (fixed once loaded) or "run"
  std::string description;
};

struct BackendInfo {
  std::string name;
  bool is_available = false;
  std::string reason;  ///< Why not, and how to get it.
};

/// The option "threads" of an engine: how many compute, fixed when a program is loaded.
OptionSchema threads_option(std::string description);

/// Self-description of an engine.
struct EngineDescription {
  std::string name;     ///< "executorch"
  std::string version;  ///< "1.5.1"
  std::string build_id;
  std::string target;                ///< "x86_64-linux-gnu"
  std::vector<std::string> formats;  ///< Program formats it loads: "pte"
  std::vector<OptionSchema> options;
  std::vector<BackendInfo> backends;
  std::vector<std::string> tags;  ///< Powers its sessions may have: "profiler", …
  std::vector<std::string> notes;
  /// Files and folders: as long as none of them changes, this stays true. Empty: ask again.
  std::vector<std::string> depends_on;
  /// Files and folders outside of the system's own that a runner of it needs to read.
  std::vector<std::string> reads;
};

struct LoadRequest {
  std::filesystem::path entry;              ///< Program to load.
  std::vector<std::filesystem::path> data;  ///< Its data files (.ptd, .bin).
  std::string method = "forward";
  Json options = Json::object();  ///< Validated against the schema.
  std::vector<std::filesystem::path>
      libraries;  ///< User's delegate or kernel libraries, loaded first.
};

/// Loads and executes programs. One engine object a process; not thread-safe.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Result<EngineDescription> describe() = 0;

  /// Errors: kNotFound and kCorrupt for files, kUnavailable for a missing backend (with the way to
  /// get it), kUnsupported for a declared refusal, kEngine for the rest; the engine's own code is
  /// in the text.
  virtual Result<std::unique_ptr<Session>> load(const LoadRequest& request) = 0;
};

/// Checks options against the schema and fills defaults. Errors: kInvalidArgument with
/// did-you-mean.
Result<Json> validate_options(const Json& requested, const std::vector<OptionSchema>& schema);

ASSAY_DECLARE_JSON(OptionSchema);
ASSAY_DECLARE_JSON(BackendInfo);
ASSAY_DECLARE_JSON(EngineDescription);

}  // namespace assay
