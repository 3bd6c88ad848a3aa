#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/file_descriptor.h"
#include "assay/record/device_trace.h"

namespace assay {

/// One quantity that Linux shows in a file below /sys, kept open.
struct TraceChannel {
  std::string name;                     ///< See DeviceTrace::channel.
  std::string unit;                     ///< See DeviceTrace::unit.
  std::array<FileDescriptor, 2> files;  ///< Their product is the reading; often one is enough.
  FileDescriptor status;                ///< A battery's, which decides the sign; mostly none.
  double scale = 1;                     ///< From what the files say to millionths of the unit.
  std::int64_t least = 0;               ///< A reading outside is none: zones without a sensor
  std::int64_t most = 0;                ///< tell values like -274000.
  std::int64_t wrap = 0;                ///< A counter starts anew behind it; 0: never.
  std::int64_t last = 0;                ///< Reading before, of a counter that starts anew.
  std::int64_t wrapped = 0;             ///< Sum of its rounds so far.
};

/// Temperature, frequency, power and energy of this machine as it can be read now and again:
/// thermal zones, frequency policies of the cores, batteries, hwmon and RAPL. Not thread-safe.
class TraceChannels {
 public:
  /// Opens the files of all channels; further ones than 64 are unavailable. Power and energy come
  /// first, then temperatures and frequencies share what is left: a phone has up to a hundred
  /// zones. `root`: where /sys is found; tests give a folder of samples.
  static TraceChannels open(const std::filesystem::path& root = "/");

  [[nodiscard]] const std::vector<TraceChannel>& channels() const { return channels_; }
  /// Channels that are there and cannot be read, with the reason.
  [[nodiscard]] const std::vector<MissingChannel>& unavailable() const { return unavailable_; }

  /// Reading of a channel now in millionths of its unit; nullopt if it gives none at this time.
  std::optional<std::int64_t> read(std::size_t index);

 private:
  /// A channel that is there, with its files.
  struct Found {
    TraceChannel channel;
    std::vector<std::filesystem::path> files;
  };

  void add(TraceChannel channel, const std::vector<std::filesystem::path>& files);
  /// Most channels of each kind that are read.
  [[nodiscard]] std::map<char, std::size_t> shares() const;
  void open_found();
  void open_files(Found found);
  void add_thermal_zones(const std::filesystem::path& root);
  void add_frequencies(const std::filesystem::path& root);
  void add_batteries(const std::filesystem::path& root);
  void add_hwmon(const std::filesystem::path& root);
  void add_rapl(const std::filesystem::path& root);
  [[nodiscard]] std::string unused_name(const std::string& name) const;

  std::vector<Found> found_;  ///< Channels that were found and are not open yet.
  std::vector<TraceChannel> channels_;
  std::vector<MissingChannel> unavailable_;
};

}  // namespace assay
