#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

/// Holds what a runner, and for traces an agent, answers against what it was asked and against what
/// our own clock says of its process, before anything of it is stored or computed with. Every
/// failure is kCorrupt; its text names the field, what the runner claims, and what is possible.
namespace assay::wire {

/// Every request has one answer, of its own type or an error; notes and log lines come in between.
Status check_answers(std::span<const Frame> answers, std::span<const Frame> requests);

Status check_hello(const Hello& hello);

/// `wall_ns`: how long the process lived, by our clock.
Status check_load_report(const LoadReport& report, std::int64_t wall_ns);

/// `left_ns`: the lifetime of the process without loading. The samples must fit into it: they are
/// those of one stream, one after the other, even if there are several streams.
Status check_measurement(const Measurement& measurement, const MeasurePlan& asked,
                         std::int64_t left_ns);

/// `outputs`: how many the program has, by its own report. The blob must hold each output of each
/// sample that was asked for.
Status check_infer_reply(const InferReply& reply, const Infer& asked, std::size_t outputs,
                         std::span<const std::byte> blob);

Status check_memory_report(const MemoryReport& report, const Observe& asked);

Status check_profile_report(const ProfileReport& report, const Observe& asked,
                            std::int64_t wall_ns);

/// `asked_ns`: the period that was asked for. `wall_ns`: how long the process lived.
Status check_traces(const LaunchTraces& traces, std::int64_t asked_ns, std::int64_t wall_ns);

/// Checks the memory that an engine reports; `list` is the name of the field.
Status check_declared_memory(std::string_view list, const std::vector<NamedBytes>& declared);

/// The sum of the load's stages, which check_load_report() has found possible.
std::int64_t load_ns_from_report(const LoadReport& report);

}  // namespace assay::wire
