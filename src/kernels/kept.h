// Which elements an operation let through, a bit each: all that the derivatives of relu and of dropout need of their
// forward pass, in a thirty-second of the memory of the elements themselves.
#pragma once

#include <cstdint>

namespace glass::kernels {

// Words that hold the bits of a row of n: element j is bit j mod 64 of word j/64. Each row begins with a word of its
// own, so that threads share none.
constexpr int64_t kept_words(int64_t n) { return (n + 63) / 64; }

// y = kept ? x·scale : 0, for `rows` dense rows of n. What was not let through is 0 whatever x is.
template <class T>
void where_kept(const T* x, const uint64_t* kept, int64_t rows, int64_t n, double scale, T* y);

// y = max(0, x), NaN for NaN. `kept`, which may be null, becomes x > 0.
template <class T>
void relu(const T* x, int64_t rows, int64_t n, T* y, uint64_t* kept);

namespace plain {

template <class T>
void where_kept(const T* x, const uint64_t* kept, int64_t rows, int64_t n, double scale, T* y) {
  for (int64_t i = 0; i < rows * n; ++i) {
    const int64_t row = i / n, j = i % n;
    const bool is_kept = kept[row * kept_words(n) + j / 64] >> (j % 64) & 1;
    y[i] = is_kept ? x[i] * static_cast<T>(scale) : T{0};
  }
}

template <class T>
void relu(const T* x, int64_t rows, int64_t n, T* y, uint64_t* kept) {
  for (int64_t w = 0; kept != nullptr && w < rows * kept_words(n); ++w) kept[w] = 0;
  for (int64_t i = 0; i < rows * n; ++i) {
    const int64_t row = i / n, j = i % n;
    if (kept != nullptr) kept[row * kept_words(n) + j / 64] |= uint64_t{x[i] > 0} << (j % 64);
    y[i] = x[i] <= 0 ? T{0} : x[i];
  }
}

}  // namespace plain

}  // namespace glass::kernels
