#include "features/compare/identity.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/spec/named_files.h"

namespace assay {
namespace {

/// The case without the name of its file, which is no part of what is measured.
Json identity_without_name(const Case& cell) {
  auto identity = identity_of(cell);
  identity["model"].erase("ref");
  return identity;
}

}  // namespace

bool are_identical(const Case& a, const Case& b) {
  if (a.engine_build != b.engine_build || a.device != b.device ||
      a.model.source_sha256 != b.model.source_sha256 ||
      identity_without_name(a) != identity_without_name(b)) {
    return false;
  }
  const auto named_a = digest_named_files(a.model.ref);
  const auto named_b = digest_named_files(b.model.ref);
  return named_a && named_b && *named_a == *named_b;
}

Comparison identical_comparison(const Case& a, const Case& b) {
  return {.a_case = case_key(a),
          .b_case = case_key(b),
          .a_label = label_of(a),
          .b_label = label_of(b),
          .verdict = ComparisonVerdict::kIdentical,
          .text = fmt::format("identical files: A and B have the same content (sha256 {}), so "
                              "nothing was measured; --measure-identical measures them anyway",
                              a.model.source_sha256.substr(0, 12))};
}

}  // namespace assay
