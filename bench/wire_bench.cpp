// Frames to bytes and back, with small and large blobs.
#include <benchmark/benchmark.h>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/wire/frame.h"

namespace assay::wire {
namespace {

Frame frame_with_blob(std::size_t bytes) {
  Frame frame{.type = MessageType::kInfer, .request = 1};
  frame.body = {{"samples", 4}, {"repeat", 2}, {"differing_elements", 0}};
  frame.blob.assign(bytes, std::byte{42});
  return frame;
}

void BM_EncodeFrame(benchmark::State& state) {
  const auto frame = frame_with_blob(static_cast<std::size_t>(state.range(0)));
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(bytes_from_frame(frame));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_EncodeFrame)->Arg(0)->Arg(4096)->Arg(16 << 20);

void BM_DecodeFrame(benchmark::State& state) {
  const auto bytes = bytes_from_frame(frame_with_blob(static_cast<std::size_t>(state.range(0))));
  const std::span<const std::byte> all(bytes);
  for (auto unused : state) {
    static_cast<void>(unused);
    const auto header = header_from_bytes(all.first<kHeaderBytes>());
    benchmark::DoNotOptimize(frame_from_payload(*header, all.subspan(kHeaderBytes)));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_DecodeFrame)->Arg(0)->Arg(4096)->Arg(16 << 20);

}  // namespace
}  // namespace assay::wire
