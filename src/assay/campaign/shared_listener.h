#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "assay/campaign/listener.h"

namespace assay {

/// One listener for campaigns on several devices, in threads: it hears one call at a time, steps
/// with the names of their devices, and how far all devices together have come.
class SharedListener {
 public:
  /// `listener` outlives it.
  explicit SharedListener(CampaignListener& listener) : listener_(listener) {}

  /// Listens to the campaign on that device. Must not outlive this.
  std::unique_ptr<CampaignListener> for_device(std::string name);

 private:
  friend class ListenerOfDevice;

  [[nodiscard]] PhaseProgress overall() const;

  CampaignListener& listener_;
  std::mutex mutex_;
  std::map<std::string, PhaseProgress, std::less<>> progress_;  ///< Current phase by device.
};

}  // namespace assay
