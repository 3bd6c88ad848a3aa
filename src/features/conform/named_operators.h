#pragma once

#include <set>
#include <string>
#include <string_view>

namespace assay {

/// The operators that an error speaks of, as `operator_stem` writes them: "aten::cummax.out",
/// "aten.scatter", and nodes that exporters name after them, "node_LogSoftmax_0".
std::set<std::string> operators_named(std::string_view text);

/// Returns "logsoftmax" for "aten.log_softmax.int": without overload, in the letters that all
/// spellings have in common.
std::string operator_stem(std::string_view name);

}  // namespace assay
