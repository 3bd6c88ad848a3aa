#pragma once

#include "features/site/page.h"

#include <string>

#include "assay/base/result.h"

namespace assay::site {

// One each for MakePage; `name` is what the address names.
Result<Page> make_overview_page(const PageTools& tools, const PageRequest& request,
                                const std::string& name);
Result<Page> make_runs_page(const PageTools& tools, const PageRequest& request,
                            const std::string& name);
Result<Page> make_run_page(const PageTools& tools, const PageRequest& request,
                           const std::string& name);
Result<Page> make_case_page(const PageTools& tools, const PageRequest& request,
                            const std::string& name);
Result<Page> make_models_page(const PageTools& tools, const PageRequest& request,
                              const std::string& name);
Result<Page> make_model_page(const PageTools& tools, const PageRequest& request,
                             const std::string& name);
Result<Page> make_conformance_page(const PageTools& tools, const PageRequest& request,
                                   const std::string& name);
Result<Page> make_comparisons_page(const PageTools& tools, const PageRequest& request,
                                   const std::string& name);
/// Two runs of the query, "a" and "b", by the metric "metric".
Result<Page> make_compare_page(const PageTools& tools, const PageRequest& request,
                               const std::string& name);
Result<Page> make_incidents_page(const PageTools& tools, const PageRequest& request,
                                 const std::string& name);
Result<Page> make_history_page(const PageTools& tools, const PageRequest& request,
                               const std::string& name);
Result<Page> make_devices_page(const PageTools& tools, const PageRequest& request,
                               const std::string& name);
Result<Page> make_fleet_page(const PageTools& tools, const PageRequest& request,
                             const std::string& name);
Result<Page> make_search_page(const PageTools& tools, const PageRequest& request,
                              const std::string& name);
/// styles and scripts that pages share: "report.css".
Result<Page> make_asset(const PageTools& tools, const PageRequest& request,
                        const std::string& name);

}  // namespace assay::site
