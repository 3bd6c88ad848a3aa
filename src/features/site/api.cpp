#include "features/site/api.h"

#include "features/conform/conform.h"
#include "features/site/index_rows.h"
#include "features/site/latest_case.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "site_assets.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/report/conformance.h"
#include "assay/report/writer.h"
#include "assay/store/stored_conformance.h"
#include "assay/summary/summarize.h"

namespace assay::site {
namespace {

constexpr const char* kJsonType = "application/json";
constexpr std::int64_t kDefaultLimit = 100;
constexpr std::int64_t kMostRows = 1000;

Page json_page(const Json& document) {
  return {.media_type = kJsonType, .body = text_from_json(document) + "\n"};
}

/// A whole number of the query between 0 and `most`; `fallback` where it is absent. Errors:
/// kInvalidArgument.
Result<std::int64_t> number_of_query(const PageRequest& request, const std::string& name,
                                     std::int64_t fallback, std::int64_t most) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) {
    return fallback;
  }
  const auto& text = found->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > most) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is a whole number from 0 to {}", name, most));
  }
  return number;
}

struct Span {
  std::int64_t offset = 0;
  std::int64_t limit = kDefaultLimit;
};

Result<Span> span_of_query(const PageRequest& request) {
  constexpr std::int64_t kMostOffset = 1'000'000'000;
  Span span;
  ASSAY_ASSIGN_OR_RETURN(span.offset, number_of_query(request, "offset", 0, kMostOffset));
  ASSAY_ASSIGN_OR_RETURN(span.limit, number_of_query(request, "limit", kDefaultLimit, kMostRows));
  return span;
}

/// A part of the runs that are asked for, and how many there are in all.
struct WantedRuns {
  std::vector<RunRow> runs;
  std::int64_t total = 0;
};

Result<WantedRuns> wanted_runs(const PageTools& tools, const PageRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto span, span_of_query(request));
  const auto query = request.query.find("q");
  WantedRuns wanted;
  if (query == request.query.end()) {
    ASSAY_ASSIGN_OR_RETURN(wanted.total, tools.index.count_runs());
    ASSAY_ASSIGN_OR_RETURN(wanted.runs, tools.index.runs(span.offset, span.limit));
    return wanted;
  }
  const auto words = words_of(query->second);
  ASSAY_ASSIGN_OR_RETURN(wanted.total, tools.index.count_found_runs(words));
  ASSAY_ASSIGN_OR_RETURN(wanted.runs, tools.index.search_runs(words, span.offset, span.limit));
  return wanted;
}

template <class Rows>
Page document_of_rows(const char* schema, const char* key, const Rows& rows) {
  return json_page({{"schema", schema}, {key, rows}});
}

}  // namespace

Result<Page> make_api_description(const PageTools& /*tools*/, const PageRequest& /*request*/,
                                  const std::string& /*name*/) {
  return Page{.media_type = kJsonType, .body = std::string(site_assets("openapi.json"))};
}

Result<Page> make_api_status(const PageTools& tools, const PageRequest& /*request*/,
                             const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto count, tools.index.count_runs());
  return json_page({{"schema", "assay/site-status/1"},
                    {"runs", tools.state.runs},
                    {"indexed", count},
                    {"pending", tools.state.pending}});
}

Result<Page> make_api_runs(const PageTools& tools, const PageRequest& request,
                           const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto wanted, wanted_runs(tools, request));
  auto entries = Json::array();
  for (const auto& run : wanted.runs) {
    entries.push_back(run.overview);
  }
  return json_page({{"schema", "assay/runs/1"}, {"runs", entries}, {"total", wanted.total}});
}

Result<Page> make_api_run(const PageTools& tools, const PageRequest& /*request*/,
                          const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, tools.index.find_run(name));
  if (!run) {
    return fail(ErrorCode::kNotFound, fmt::format("no run '{}'", name));
  }
  return json_page({{"schema", "assay/runs/1"}, {"runs", Json::array({run->overview})}});
}

Result<Page> make_api_report(const PageTools& tools, const PageRequest& /*request*/,
                             const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, tools.open_store());
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(name));
  if (run.id != name) {
    return fail(ErrorCode::kNotFound, fmt::format("no run '{}'", name));
  }
  std::ostringstream out;
  if (run.purpose == "conform") {
    ASSAY_ASSIGN_OR_RETURN(const auto report, read_conform_report(*store, run));
    ASSAY_RETURN_IF_ERROR(write_conformance("json", report, {}, out));
  } else {
    const auto baseline = run.spec.is_object() ? run.spec.value("baseline", "") : "";
    ASSAY_ASSIGN_OR_RETURN(const auto summary, summarize_run(*store, run, {.baseline = baseline}));
    ASSAY_RETURN_IF_ERROR(write_report("json", summary, {}, out));
  }
  return Page{.media_type = kJsonType, .body = std::move(out).str()};
}

Result<Page> make_api_case(const PageTools& tools, const PageRequest& request,
                           const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto span, span_of_query(request));
  // One more than none is asked for, as no result at all means that there is no such case.
  ASSAY_ASSIGN_OR_RETURN(auto results,
                         tools.index.results_of_case(name, std::max<std::int64_t>(span.limit, 1)));
  if (results.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("no case '{}'", name));
  }
  if (span.limit == 0) {
    results.clear();
  }
  return document_of_rows("assay/case-results/1", "results", results);
}

Result<Page> make_api_models(const PageTools& tools, const PageRequest& /*request*/,
                             const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto models, tools.index.models());
  auto entries = Json::array();
  for (const auto& model : models) {
    const auto path = model_path(model.ref);
    const auto id = path.substr(path.find('/') + 1);
    entries.push_back({{"id", id.substr(0, id.find('.'))},
                       {"ref", model.ref},
                       {"name", model.name},
                       {"cases", model.cases},
                       {"results", model.results},
                       {"last_unix_ns", model.last_unix_ns}});
  }
  return document_of_rows("assay/models/1", "models", entries);
}

Result<Page> make_api_model(const PageTools& tools, const PageRequest& request,
                            const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto span, span_of_query(request));
  ASSAY_ASSIGN_OR_RETURN(const auto model, find_model(tools.index, name));
  ASSAY_ASSIGN_OR_RETURN(const auto rows, tools.index.newest_of_model(model.ref, span.limit));
  return document_of_rows("assay/newest-values/1", "results", rows);
}

Result<Page> make_api_conformance(const PageTools& tools, const PageRequest& request,
                                  const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto span, span_of_query(request));
  ASSAY_ASSIGN_OR_RETURN(const auto rows, tools.index.newest_conformance(span.limit));
  return document_of_rows("assay/conformance-settings/2", "settings", rows);
}

Result<Page> make_api_comparisons(const PageTools& tools, const PageRequest& request,
                                  const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto span, span_of_query(request));
  ASSAY_ASSIGN_OR_RETURN(const auto rows, tools.index.comparisons(span.offset, span.limit));
  return document_of_rows("assay/comparisons/1", "comparisons", rows);
}

Result<Page> make_api_devices(const PageTools& tools, const PageRequest& /*request*/,
                              const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto machines, tools.index.machines());
  auto entries = Json::array();
  for (const auto& machine : machines) {
    entries.push_back({{"device", machine.newest.device},
                       {"environment", machine.newest.environment},
                       {"runs", machine.runs},
                       {"first_unix_ns", machine.first_unix_ns},
                       {"last_unix_ns", machine.last_unix_ns},
                       {"last_run", machine.last_run}});
  }
  return document_of_rows("assay/devices-used/1", "devices", entries);
}

}  // namespace assay::site
