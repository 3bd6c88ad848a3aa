#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::wire {

inline constexpr std::uint32_t kMagic = 0x59415341;  ///< "ASAY" in little-endian bytes.
inline constexpr std::uint16_t kVersionMin = 1;
inline constexpr std::uint16_t kVersionMax = 1;
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::uint32_t kMaxJsonBytes = 64U << 20;
inline constexpr std::uint64_t kMaxBlobBytes = 16ULL << 30;

/// A reply has the type and request id of what it answers, or is kError. kStage and kLog come in
/// between.
enum class MessageType : std::uint16_t {
  kHello = 1,
  kDescribe,
  kHas,
  kPut,
  kSpawn,
  kConditions,
  kEnvironment,
  kTree,
  kLock,
  kSpace,
  kPrune,
  kPolicy,
  kLoad = 16,
  kInfer,
  kMeasure,
  kProfile,
  kMemory,
  kResetState,
  kUnload,
  kStage = 32,
  kLog,
  kError,
  kBye,
};

struct Frame {
  MessageType type = MessageType::kHello;
  std::uint32_t request = 0;
  Json body = Json::object();
  std::vector<std::byte> blob;
};

/// Header, 32 bytes little-endian: magic u32 | version u16 | type u16 | request u32 | JSON bytes
/// u32 | blob bytes u64 | crc32c of the payload u32 | crc32c of the 28 bytes before u32; then JSON,
/// then blob. The body is an object; text in it that is not UTF-8 is replaced by U+FFFD.
std::vector<std::byte> bytes_from_frame(const Frame& frame);

/// Puts a frame behind others.
void append_frame(std::vector<std::byte>& bytes, const Frame& frame);

/// Returns bytes_from_frame without the blob, which the sender writes behind it.
std::vector<std::byte> bytes_before_blob(const Frame& frame);

struct FrameHeader {
  std::uint16_t version = 0;
  std::uint16_t type = 0;
  std::uint32_t request = 0;
  std::uint32_t json_bytes = 0;
  std::uint64_t blob_bytes = 0;
  std::uint32_t payload_crc = 0;
};

/// Errors: kCorrupt for magic, checksum or lengths beyond the limits; kUnsupported for a version.
Result<FrameHeader> header_from_bytes(std::span<const std::byte, kHeaderBytes> bytes);

/// Checks the payload's checksum and parses it. Errors: kCorrupt.
Result<Frame> frame_from_payload(const FrameHeader& header, std::span<const std::byte> payload);

/// Joins a frame from its two parts; takes the blob without a copy.
Result<Frame> frame_from_parts(const FrameHeader& header, std::span<const std::byte> json,
                               std::vector<std::byte> blob);

/// Splits a whole byte string into frames. A damaged frame ends the list; what was whole before it
/// is kept.
struct FrameSequence {
  std::vector<Frame> frames;
  Status status;              ///< Why the list ended early: kCorrupt.
  bool is_truncated = false;  ///< The bytes end within a frame.
};
FrameSequence frames_from_bytes(std::span<const std::byte> bytes);

}  // namespace assay::wire

template <>
inline constexpr auto assay::kEnumNames<assay::wire::MessageType> =
    std::to_array<assay::EnumName<assay::wire::MessageType>>({
        {assay::wire::MessageType::kHello, "hello"},
        {assay::wire::MessageType::kDescribe, "describe"},
        {assay::wire::MessageType::kHas, "has"},
        {assay::wire::MessageType::kPut, "put"},
        {assay::wire::MessageType::kSpawn, "spawn"},
        {assay::wire::MessageType::kConditions, "conditions"},
        {assay::wire::MessageType::kEnvironment, "environment"},
        {assay::wire::MessageType::kTree, "tree"},
        {assay::wire::MessageType::kLock, "lock"},
        {assay::wire::MessageType::kSpace, "space"},
        {assay::wire::MessageType::kPrune, "prune"},
        {assay::wire::MessageType::kPolicy, "policy"},
        {assay::wire::MessageType::kLoad, "load"},
        {assay::wire::MessageType::kInfer, "infer"},
        {assay::wire::MessageType::kMeasure, "measure"},
        {assay::wire::MessageType::kProfile, "profile"},
        {assay::wire::MessageType::kMemory, "memory"},
        {assay::wire::MessageType::kResetState, "reset_state"},
        {assay::wire::MessageType::kUnload, "unload"},
        {assay::wire::MessageType::kStage, "stage"},
        {assay::wire::MessageType::kLog, "log"},
        {assay::wire::MessageType::kError, "error"},
        {assay::wire::MessageType::kBye, "bye"},
    });
