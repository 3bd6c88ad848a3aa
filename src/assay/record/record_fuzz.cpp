// Whatever a document is, a record reads from it or throws what its readers catch, and what was
// read stays as it is when it is written and read again: the store and the wire keep records as
// JSON.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/base/fuzz_input.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/attribution.h"
#include "assay/record/calibration.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/record/conformance.h"
#include "assay/record/launch.h"
#include "assay/record/profile.h"
#include "assay/record/run.h"
#include "assay/record/scenario.h"
#include "assay/record/spawn.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"

namespace {

using assay::Json;

template <class Record>
void check_record(std::string_view text) {
  const auto document = assay::parse_json(text, "fuzz");
  if (!document) {
    return;
  }
  Record record;
  try {
    record = document->get<Record>();
  } catch (const std::exception&) {
    return;
  }
  const Json written(record);
  ASSAY_CHECK(assay::canonical_json(Json(written.get<Record>())) == assay::canonical_json(written));
}

void check_case(std::string_view text) {
  check_record<assay::Case>(text);
  const auto document = assay::parse_json(text, "fuzz");
  if (!document) {
    return;
  }
  try {
    const auto cell = document->get<assay::Case>();
    ASSAY_CHECK(assay::case_key(Json(cell).get<assay::Case>()) == assay::case_key(cell));
    static_cast<void>(assay::label_of(cell));
  } catch (const std::exception&) {
    return;
  }
}

void check_cores(std::string_view text) {
  if (const auto cores = assay::cores_from_text(std::string(text))) {
    ASSAY_CHECK(!cores->empty());
    for (const int core : *cores) {
      ASSAY_CHECK(core >= 0);
    }
  }
}

void check_background(std::string_view text) {
  if (const auto background = assay::background_from_text(std::string(text))) {
    ASSAY_CHECK(!background->kind.empty() && background->count > 0);
  }
}

constexpr assay::FuzzedParser kParsers[] = {{'a', check_record<assay::Attribution>},
                                            {'A', check_record<assay::Artifact>},
                                            {'b', check_background},
                                            {'c', check_case},
                                            {'C', check_record<assay::Comparison>},
                                            {'e', check_record<assay::Environment>},
                                            {'f', check_record<assay::ConformReport>},
                                            {'i', check_record<assay::InstructionReport>},
                                            {'k', check_record<assay::Calibration>},
                                            {'l', check_record<assay::Launch>},
                                            {'L', check_record<assay::LoadReport>},
                                            {'m', check_record<assay::Measurement>},
                                            {'M', check_record<assay::MemoryReport>},
                                            {'o', check_cores},
                                            {'p', check_record<assay::ProfileReport>},
                                            {'q', check_record<assay::SpawnRequest>},
                                            {'Q', check_record<assay::SpawnResult>},
                                            {'r', check_record<assay::Run>},
                                            {'s', check_record<assay::Scenario>},
                                            {'t', check_record<assay::Attempt>},
                                            {'u', check_record<assay::AccuracyTable>}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::run_fuzzed_parser(kParsers, data, size);
}
