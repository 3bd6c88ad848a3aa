#include "assay/summary/operator_family.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>

namespace assay {
namespace {

struct Family {
  std::string_view name;
  std::initializer_list<std::string_view> marks;  ///< Any of them in a name, in small letters.
};

// The first that fits: "_to_dim_order_copy" is no order of anything, "addmm" no addition.
const std::array<Family, 13>& families() {
  static const std::array<Family, 13> known = {{
      {"matrix product", {"fullyconnected"}},
      {"quantize", {"quantize", "qparams", "convert"}},
      {"normalization", {"norm"}},
      {"resize", {"resize", "upsample", "interpolat"}},
      {"copy",
       {"copy", "clone", "permute", "transpose", "view", "reshape", "concat", "cat.", "slice",
        "pad", "dim_order", "expand", "split", "squeeze", "select", "stack"}},
      {"convolution", {"conv"}},
      {"matrix product",
       {"fully connected", "linear", "addmm", "mm.", "matmul", "matrix", "gemm", "attention"}},
      {"pooling", {"pool"}},
      {"reduction", {"mean", "sum", "reduce", "amax", "amin", "argm"}},
      {"activation",
       {"relu", "clamp", "swish", "sigmoid", "hardtanh", "tanh", "softmax", "elu", "silu"}},
      {"lookup", {"embedding", "gather", "index", "table"}},
      {"comparison", {"where", "logical", "equal"}},
      {"arithmetic",
       {"add", "sub", "mul", "div", "exp", "pow", "sqrt", "neg", "abs", "maximum", "minimum",
        "square", "log", "reciprocal", "binary", "unary"}},
  }};
  return known;
}

std::string small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

/// Name of the operator alone, without what OpenVINO's "Reorder (F32) reorder_brgemm" says of its
/// implementation and ONNX Runtime's "QLinearMul node_Conv_5" of its node.
std::string_view kind_of(std::string_view name) {
  constexpr std::string_view kQuantized = "QLinear";
  const auto bracket = name.find('(');
  name = name.substr(0, bracket == std::string_view::npos ? name.find(' ') : bracket);
  return name.starts_with(kQuantized) ? name.substr(kQuantized.size()) : name;
}

/// "F32", "QS8", "QC8W", "X32".
bool is_element_type(std::string_view token) {
  const auto letters =
      std::ranges::find_if_not(token, [](unsigned char c) { return std::isupper(c) != 0; });
  const auto digits =
      std::find_if_not(letters, token.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  const std::string_view tail(digits, token.end());
  return letters != token.begin() && digits != letters && (tail.empty() || tail == "W");
}

/// Text in parentheses, without element types; with them, if nothing is left.
std::string without_element_types(std::string_view list) {
  std::string kept;
  while (!list.empty()) {
    const auto comma = std::min(list.find(", "), list.size());
    const auto token = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 2, list.size()));
    if (!is_element_type(token)) {
      kept += (kept.empty() ? "" : ", ") + std::string(token);
    }
  }
  return kept;
}

}  // namespace

std::string_view family_of_operator(std::string_view name) {
  const auto small = small_letters(kind_of(name));
  for (const auto& family : families()) {
    const auto has_mark = [&small](std::string_view mark) {
      return small.find(mark) != std::string::npos;
    };
    if (std::ranges::any_of(family.marks, has_mark)) {
      return family.name;
    }
  }
  return "other";
}

std::string matching_name(std::string_view name) {
  const auto number = name.rfind(" #");
  name = name.substr(0, number);
  const auto open = name.find('(');
  const auto close = name.find(')', open == std::string_view::npos ? name.size() : open);
  if (close == std::string_view::npos) {
    return std::string(name);
  }
  const auto kept = without_element_types(name.substr(open + 1, close - open - 1));
  return kept.empty()
             ? std::string(name.substr(0, open)) + std::string(name.substr(close + 1))
             : std::string(name.substr(0, open + 1)) + kept + std::string(name.substr(close));
}

std::string base_name_of_operator(std::string_view name) {
  const auto last = name.rfind('.');
  if (last == std::string_view::npos) {
    return std::string(name);
  }
  const auto before = name.rfind('.', last - 1);
  return std::string(before == std::string_view::npos ? name.substr(0, last)
                                                      : name.substr(before + 1, last - before - 1));
}

}  // namespace assay
