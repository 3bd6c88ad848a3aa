#include "pool.h"

#include <cmath>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::validation {
namespace {

constexpr const char* kSchema = "assay/validation-pools/1";

Block block_from_json(const Json& floors) {
  const auto log_at = [&floors](int index) { return std::log(floors.at(index).get<double>()); };
  return {.a = {log_at(0), log_at(2)}, .b = {log_at(1), log_at(3)}};
}

Cell cell_from_json(const Json& json) {
  Cell cell{
      .workload = json.at("workload"), .state = json.at("state"), .effect = json.at("effect")};
  for (const auto& floors : json.at("floors_ns")) {
    cell.blocks.push_back(block_from_json(floors));
  }
  return cell;
}

}  // namespace

Result<std::vector<Cell>> read_pools(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto document, read_json_file(path));
  try {
    if (document.at("schema") != kSchema) {
      return fail(ErrorCode::kCorrupt, fmt::format("{} is no {}", path.string(), kSchema));
    }
    std::vector<Cell> cells;
    for (const auto& json : document.at("cells")) {
      cells.push_back(cell_from_json(json));
    }
    return cells;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace assay::validation
