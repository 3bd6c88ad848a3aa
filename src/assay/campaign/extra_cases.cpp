#include "assay/campaign/extra_cases.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/subject.h"
#include "assay/spec/program_format.h"
#include "assay/spec/reference_kind.h"

namespace assay {
namespace {

const EngineBuild* find_build(const std::vector<EngineBuild>& builds, std::string_view engine) {
  const auto found = std::ranges::find_if(builds, [engine](const EngineBuild& build) {
    return build.name == engine || build.reference() == engine;
  });
  return found == builds.end() ? nullptr : &*found;
}

std::string refusal_of(const Case& cell, const std::vector<EngineBuild>& builds) {
  const auto* build = find_build(builds, cell.engine_build);
  if (build == nullptr) {
    return fmt::format("unavailable: {}, which provides the reference, is not installed",
                       cell.engine_build);
  }
  const auto formats = formats_of(*build);
  const auto& format = cell.recipe.produces;
  return format.empty() || std::ranges::find(formats, format) != formats.end()
             ? ""
             : fmt::format("{} does not load {} programs, so it cannot provide their reference",
                           build->name, format);
}

/// Copies the case, with random inputs.
Case twin_of(Case cell) {
  cell.inputs.generator = "normal";
  cell.inputs.role = kParityRole;
  cell.inputs.file.clear();
  cell.inputs.file_sha256.clear();
  cell.expected_file.clear();
  cell.expected_sha256.clear();
  cell.scenario = Json::object();
  cell.require = Json::object();
  return cell;
}

/// Collects extra cases, none twice.
class Collector {
 public:
  explicit Collector(const CampaignRequest& request) : request_(request) {
    std::ranges::transform(request.cases, std::inserter(ids_, ids_.end()),
                           [](const Case& cell) { return case_id_from(cell); });
  }

  std::vector<ExtraCase> collect() {
    add_references_of(request_.cases);
    std::vector<Case> twins;
    for (const auto& cell : request_.cases) {
      if (request_.context.settings.has_parity && cell.inputs.generator == "file") {
        twins.push_back(twin_of(cell));
        add(twins.back(), {});
      }
    }
    add_references_of(twins);
    return std::move(extra_);
  }

 private:
  void add_references_of(const std::vector<Case>& cells) {
    for (const auto& cell : cells) {
      for (const auto& kind : request_.context.settings.against) {
        if (const auto engine = engine_of_kind(kind)) {
          auto reference = reference_case_of(cell, *engine, request_.context.builds);
          auto refusal = refusal_of(reference, request_.context.builds);
          add(std::move(reference), std::move(refusal));
        }
      }
    }
  }

  void add(Case cell, std::string refusal) {
    if (ids_.insert(case_id_from(cell)).second) {
      extra_.push_back({std::move(cell), std::move(refusal)});
    }
  }

  const CampaignRequest& request_;
  std::set<CaseId> ids_;
  std::vector<ExtraCase> extra_;
};

bool is_evaluated(const CampaignRequest& request) {
  const auto& passes = request.context.settings.passes;
  return std::ranges::find(passes, Pass::kEvaluate) != passes.end();
}

/// True if each kind of reference is an engine, and the case is what that engine is to compute.
bool is_its_own_reference(const Case& cell, const CampaignRequest& request) {
  return std::ranges::all_of(request.context.settings.against, [&](const std::string& kind) {
    const auto engine = engine_of_kind(kind);
    return engine && case_id_from(reference_case_of(cell, *engine, request.context.builds)) ==
                         case_id_from(cell);
  });
}

}  // namespace

Status check_comparisons(std::span<const CampaignRequest> requests) {
  for (const auto& request : requests) {
    const auto has_own = [&request](const Case& cell) {
      return is_its_own_reference(cell, request);
    };
    const bool has_any = !is_evaluated(request) || request.context.settings.against.empty() ||
                         request.cases.empty() || !std::ranges::all_of(request.cases, has_own);
    if (has_any) {
      return {};
    }
  }
  return requests.empty()
             ? Status()
             : fail(ErrorCode::kInvalidArgument,
                    "nothing would be compared: the only engine of the request is its own "
                    "reference; give another one (--engine, or \"engines\"), or another reference "
                    "(--against, or \"against\")");
}

Case reference_case_of(const Case& cell, std::string_view engine,
                       const std::vector<EngineBuild>& builds) {
  Case reference = cell;
  const auto* build = find_build(builds, engine);
  reference.engine = engine.substr(0, engine.find('@'));
  reference.engine_build = build == nullptr ? std::string(engine) : build->reference();
  reference.options = Json::object();
  reference.scenario = Json::object();
  reference.require = Json::object();
  return reference;
}

std::vector<ExtraCase> extra_cases_of(const CampaignRequest& request) {
  return is_evaluated(request) ? Collector(request).collect() : std::vector<ExtraCase>();
}

}  // namespace assay
