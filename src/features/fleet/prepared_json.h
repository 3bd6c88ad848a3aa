#pragma once

#include "assay/base/json.h"
#include "assay/campaign/preparation.h"
#include "assay/campaign/run_context.h"

namespace assay {

/// Settings of a campaign without its power meter, which belongs to a device.
Json json_from_settings(const CampaignSettings& settings);
/// Throws Json::exception and std::invalid_argument for a field of a wrong type or name.
CampaignSettings settings_from_json(const Json& document);

/// A case with what was made for it. The build is its reference only.
Json json_from_prepared(const PreparedCase& prepared);
/// Throws as settings_from_json().
PreparedCase prepared_from_json(const Json& document);

}  // namespace assay
