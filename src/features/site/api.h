#pragma once

#include "features/site/page.h"

#include <string>

#include "assay/base/result.h"

/// Documents for programs: docs/contracts/http.md.
namespace assay::site {

// One each for MakePage; `name` is what the address names.
Result<Page> make_api_description(const PageTools& tools, const PageRequest& request,
                                  const std::string& name);
Result<Page> make_api_status(const PageTools& tools, const PageRequest& request,
                             const std::string& name);
Result<Page> make_api_runs(const PageTools& tools, const PageRequest& request,
                           const std::string& name);
Result<Page> make_api_run(const PageTools& tools, const PageRequest& request,
                          const std::string& name);
Result<Page> make_api_report(const PageTools& tools, const PageRequest& request,
                             const std::string& name);
Result<Page> make_api_case(const PageTools& tools, const PageRequest& request,
                           const std::string& name);
Result<Page> make_api_models(const PageTools& tools, const PageRequest& request,
                             const std::string& name);
Result<Page> make_api_model(const PageTools& tools, const PageRequest& request,
                            const std::string& name);
Result<Page> make_api_conformance(const PageTools& tools, const PageRequest& request,
                                  const std::string& name);
Result<Page> make_api_comparisons(const PageTools& tools, const PageRequest& request,
                                  const std::string& name);
Result<Page> make_api_devices(const PageTools& tools, const PageRequest& request,
                              const std::string& name);

}  // namespace assay::site
