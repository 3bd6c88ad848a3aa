#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Activations as dot products take them that multiply unsigned bytes by signed ones: int8 with its
/// sign bit turned is the value plus 128.
namespace fixedpoint {

/// Change of an activation whose sign bit is turned.
constexpr int kTurnedSign = 128;

/// Turns the signs of as many bytes as a word has, or up to twice as many, by two words that
/// overlap.
template <class Word>
[[gnu::always_inline]] inline void turn_two_words(const std::int8_t* in, int count,
                                                  std::byte* packed) {
  constexpr auto kSigns = static_cast<Word>(0x8080808080808080);
  Word first;
  Word last;
  const auto place = count - static_cast<int>(sizeof(Word));
  std::memcpy(&first, in, sizeof first);
  std::memcpy(&last, in + place, sizeof last);
  first ^= kSigns;
  last ^= kSigns;
  std::memcpy(packed, &first, sizeof first);
  std::memcpy(packed + place, &last, sizeof last);
}

/// Up to 16 bytes: rows of windows over images of three channels are this short.
[[gnu::always_inline]] inline void turn_signs_of_few(const std::int8_t* in, int count,
                                                     std::byte* packed) {
  if (count >= 8) {
    turn_two_words<std::uint64_t>(in, count, packed);
  } else if (count >= 4) {
    turn_two_words<std::uint32_t>(in, count, packed);
  } else {
    for (int i = 0; i < count; ++i) {
      packed[i] = static_cast<std::byte>(in[i]) ^ std::byte{0x80};
    }
  }
}

}  // namespace fixedpoint
