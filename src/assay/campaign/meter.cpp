#include "assay/campaign/meter.h"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <signal.h>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/record/device_trace.h"

namespace assay {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLinePoll{100};
constexpr milliseconds kFirstReading{5'000};
constexpr milliseconds kPatience{2'000};
constexpr double kMostValue = 1e12;

std::string shown(std::string_view line) {
  constexpr std::size_t kMost = 80;
  return printable(line.substr(0, kMost));
}

}  // namespace

Result<MeterReading> meter_reading_from_line(std::string_view line) {
  const auto refuse = [line] {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("printed '{}', which is no reading such as {{\"watts\": 3.2}}", shown(line)));
  };
  const auto document = parse_json(line, "meter", JsonComments::kRefused);
  if (!document || !document->is_object()) {
    return refuse();
  }
  const auto watts = document->find("watts");
  const auto joules = document->find("joules");
  const bool is_energy = joules != document->end();
  const auto value = is_energy ? joules : watts;
  const auto time = document->value("unix_ns", Json(0));
  if (is_energy == (watts != document->end()) || !value->is_number() || !time.is_number_integer() ||
      !(std::abs(value->get<double>()) < kMostValue)) {
    return refuse();
  }
  return MeterReading{.unix_ns = time.get<std::int64_t>(),
                      .is_energy = is_energy,
                      .micros = std::llround(value->get<double>() * 1e6)};
}

Meter::Meter(Subprocess process)
    : boottime_less_unix_ns_(boottime_ns() - unix_time_ns()), process_(std::move(process)) {
  thread_ = std::thread([this] { take_lines(); });
}

Result<std::unique_ptr<Meter>> Meter::start(const std::vector<std::string>& argv) {
  ASSAY_ASSIGN_OR_RETURN(
      auto process,
      Subprocess::start({.argv = argv, .stderr_file = "/dev/null", .leads_group = true}));
  std::unique_ptr<Meter> meter(new Meter(std::move(process)));
  ASSAY_RETURN_IF_ERROR(meter->wait_for_first());
  return meter;
}

Status Meter::wait_for_first() {
  const auto end = std::chrono::steady_clock::now() + kFirstReading;
  while (std::chrono::steady_clock::now() < end) {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_.empty()) {
        return fail(ErrorCode::kUnavailable, failure_);
      }
      if (!trace_.times_ns.empty()) {
        return {};
      }
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return fail(ErrorCode::kUnavailable, fmt::format("gave no reading within {} s of its start",
                                                   kFirstReading.count() / 1000));
}

void Meter::take_lines() {
  while (true) {
    const auto line = process_.read_line(kLinePoll);
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || !failure_.empty()) {
      return;
    }
    if (!line) {
      failure_ = line.error().message;
    } else if (*line) {
      take(**line);
    } else if (process_.is_at_end()) {
      failure_ = fmt::format("ended before the launch did (readings until then: {})",
                             trace_.times_ns.size());
    }
  }
}

void Meter::take(std::string_view line) {
  if (line.empty()) {
    return;
  }
  const auto reading = meter_reading_from_line(line);
  if (!reading) {
    failure_ = reading.error().message;
    return;
  }
  const std::string unit = reading->is_energy ? "joules" : "watts";
  const auto at_ns =
      reading->unix_ns == 0 ? boottime_ns() : reading->unix_ns + boottime_less_unix_ns_;
  if (!trace_.unit.empty() && trace_.unit != unit) {
    failure_ = "printed both watts and joules";
  } else if (!trace_.times_ns.empty() && at_ns < trace_.times_ns.back()) {
    failure_ = fmt::format("went back in time with '{}'", shown(line));
  } else if (reading->is_energy && !trace_.micros.empty() &&
             reading->micros < trace_.micros.back()) {
    failure_ = fmt::format("counted backwards with '{}'", shown(line));
  }
  trace_.unit = unit;
  trace_.times_ns.push_back(at_ns);
  trace_.micros.push_back(reading->micros);
}

Result<DeviceTrace> Meter::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  if (thread_.joinable()) {
    thread_.join();
    process_.kill_group(SIGTERM);
    if (!process_.has_ended(kPatience)) {
      process_.kill_group(SIGKILL);
    }
    process_.wait();
  }
  return failure_.empty() ? Result<DeviceTrace>(std::move(trace_))
                          : fail(ErrorCode::kUnavailable, failure_);
}

Meter::~Meter() { [[maybe_unused]] const auto unread = stop(); }

}  // namespace assay
