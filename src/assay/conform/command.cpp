#include "assay/conform/command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/conform/plan.h"
#include "assay/record/case.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

/// In single quotes, unless it needs none.
std::string quoted(const std::string& text) {
  constexpr auto* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:=,@+%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) {
    return text;
  }
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::string dimensions_of(const Shape& shape) {
  std::string text;
  for (const auto size : shape) {
    text += (text.empty() ? "" : ",") + fmt::to_string(size);
  }
  return text;
}

}  // namespace

std::string command_to_repeat(const Case& cell, const std::string& against) {
  std::string command = "assay eval " + quoted(cell.model.ref);
  if (!cell.model.args.empty()) {
    command += " --args " + quoted(cell.model.args.dump());
  }
  if (cell.inputs.generator == "own") {
    command += " --inputs own";
  }
  for (const auto& input : cell.model.inputs) {
    command += " --input-shape " + quoted(dimensions_of(input.shape));
  }
  command += fmt::format(" --samples {} --recipe {} --against {} --seed {}", cell.inputs.count,
                         quoted(cell.recipe.name),
                         against.empty() ? reference_kind_of(cell) : against, cell.model.seed);
  for (const auto& [name, value] : cell.options.items()) {
    command += " --option " +
               quoted(fmt::format("{}={}", name,
                                  value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return command;
}

}  // namespace assay
