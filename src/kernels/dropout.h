// Dropout whose draws are keyed by logical place (base/random.h), so that no layout and no cutting of a batch changes
// what is dropped.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "glassformer/base/random.h"
#include "kernels/kept.h"

namespace glass::kernels {

// A dense array [n0,n1,n2,n3]: example, and three indices within it.
struct DropoutPlace {
  uint64_t key = 0;
  uint64_t first_example = 0;
  int64_t extents[4] = {1, 1, 1, 1};
  // If set, n0 and n1 are 1 and the n2 rows are those of several examples, one after another, of so many rows each.
  std::shared_ptr<const std::vector<int64_t>> packed_rows = nullptr;
};

// What a run of rows draws by: its key, its first row's counters, and what becomes of the draws.
struct DropoutDraws {
  uint64_t key;
  uint32_t c0, c1, c2;
  uint32_t threshold;  // a draw of 24 bits below it is dropped
  float scale;         // of what is kept
};

inline DropoutDraws dropout_draws(uint64_t key, double rate) {
  return {key, 0, 0, 0, static_cast<uint32_t>(std::lround(rate * 0x1p24)), static_cast<float>(1 / (1 - rate))};
}

// y = x/(1−rate) with probability 1−rate, else 0; 0 <= rate < 1. `kept` (kernels/kept.h), which may be null, becomes
// what was not dropped: drawing again for the backward pass would cost more than reading a bit.
template <class T>
void dropout(const T* x, const DropoutPlace& place, double rate, T* y, uint64_t* kept = nullptr);

namespace plain {

// Rows whose third index goes up by one. Element j of the row at [i0,i1,i2] is drawn from word j mod 4 of philox(key,
// {first_example + i0, i1, i2, j/4}), by its upper 24 bits.
template <class T>
void dropout_rows(const T* x, int64_t rows, int64_t n, uint64_t key, std::array<uint32_t, 3> place, double rate, T* y,
                  uint64_t* kept = nullptr) {
  const auto threshold = static_cast<uint32_t>(std::lround(rate * 0x1p24));
  for (int64_t w = 0; kept != nullptr && w < rows * kept_words(n); ++w) kept[w] = 0;
  for (int64_t i = 0; i < rows * n; ++i) {
    const auto j = static_cast<uint32_t>(i % n);
    const PhiloxBlock words = philox(key, {place[0], place[1], place[2] + static_cast<uint32_t>(i / n), j / 4});
    const bool is_kept = (words[j % 4] >> 8) >= threshold;
    if (kept != nullptr) kept[i / n * kept_words(n) + j / 64] |= uint64_t{is_kept} << (j % 64);
    y[i] = is_kept ? x[i] * static_cast<T>(1 / (1 - rate)) : T{0};
  }
}

}  // namespace plain

}  // namespace glass::kernels
