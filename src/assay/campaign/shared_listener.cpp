#include "assay/campaign/shared_listener.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "assay/campaign/listener.h"
#include "assay/record/axes.h"

namespace assay {

class ListenerOfDevice final : public CampaignListener {
 public:
  ListenerOfDevice(SharedListener& shared, std::string device)
      : shared_(shared), device_(std::move(device)) {}

  void on_phase(std::string_view name, std::string_view unit,
                const PhaseProgress& progress) override {
    const std::scoped_lock lock(shared_.mutex_);
    shared_.progress_[device_] = progress;
    auto own = progress;
    own.device = device_;
    shared_.listener_.on_phase(name, unit, own);
    shared_.listener_.on_progress(shared_.overall());
  }
  void on_progress(const PhaseProgress& progress) override {
    const std::scoped_lock lock(shared_.mutex_);
    shared_.progress_[device_] = progress;
    shared_.listener_.on_progress(shared_.overall());
  }
  void on_step_started(std::string_view label, std::string_view stage) override {
    const std::scoped_lock lock(shared_.mutex_);
    shared_.listener_.on_step_started(there(label), stage);
  }
  void on_step_finished(std::string_view label, Outcome outcome, std::string_view text) override {
    const std::scoped_lock lock(shared_.mutex_);
    shared_.listener_.on_step_finished(there(label), outcome, text);
  }
  void on_wait() override {
    const std::scoped_lock lock(shared_.mutex_);
    shared_.listener_.on_wait();
  }
  void on_note(std::string_view text) override {
    const std::scoped_lock lock(shared_.mutex_);
    shared_.listener_.on_note(fmt::format("{}: {}", device_, text));
  }
  bool should_stop() override {
    const std::scoped_lock lock(shared_.mutex_);
    return shared_.listener_.should_stop();
  }

 private:
  [[nodiscard]] std::string there(std::string_view label) const {
    return fmt::format("{} on {}", label, device_);
  }

  SharedListener& shared_;
  std::string device_;
};

std::unique_ptr<CampaignListener> SharedListener::for_device(std::string name) {
  return std::make_unique<ListenerOfDevice>(*this, std::move(name));
}

/// The sum of what is done and to do; devices work at the same time, so the slowest one tells how
/// long it takes.
PhaseProgress SharedListener::overall() const {
  PhaseProgress all{.remaining_ns = 0};
  for (const auto& [device, one] : progress_) {
    all.done += one.done;
    all.total += one.total;
    all.is_limit = all.is_limit || one.is_limit;
    const bool is_known = all.remaining_ns >= 0 && one.remaining_ns >= 0;
    all.remaining_ns = is_known ? std::max(all.remaining_ns, one.remaining_ns) : -1;
  }
  return all;
}

}  // namespace assay
