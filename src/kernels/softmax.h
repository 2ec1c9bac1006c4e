// Softmax and log-softmax over rows of n numbers. The only masked softmax there is: entries that are not kept are
// exactly 0, and a row that keeps none is all zeros. Among kept entries NaN and +∞ make the row NaN, as their
// arithmetic says.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace glass::kernels {

// Which entries of each row take part: row r of the scores reads the mask from `data + offset of r`, by three axes
// [e0,e1,e2] that the rows are made of. Null data keeps everything.
struct KeepRows {
  const bool* data = nullptr;
  int64_t extents[3] = {1, 1, 1};
  int64_t strides[3] = {0, 0, 0};
  int64_t column_stride = 1;

  const bool* row(int64_t r) const {
    if (data == nullptr) return nullptr;
    const int64_t i2 = r % extents[2], i1 = r / extents[2] % extents[1], i0 = r / extents[2] / extents[1];
    return data + i0 * strides[0] + i1 * strides[1] + i2 * strides[2];
  }
};

void softmax(const float* x, int64_t rows, int64_t n, const KeepRows& keep, float* y);
void softmax(const double* x, int64_t rows, int64_t n, const KeepRows& keep, double* y);

// dx = y·(dy − Σ dy·y). A masked entry has y = 0 and so no gradient.
template <class T>
void softmax_backward(const T* dy, const T* y, int64_t rows, int64_t n, T* dx);

template <class T>
void log_softmax(const T* x, int64_t rows, int64_t n, T* y);

// dx = dy − exp(y)·Σ dy
template <class T>
void log_softmax_backward(const T* dy, const T* y, int64_t rows, int64_t n, T* dx);

// log Σ exp(x), n > 0
float log_sum_exp(const float* x, int64_t n);
double log_sum_exp(const double* x, int64_t n);

namespace plain {

template <class T>
void softmax_row(const T* x, int64_t n, const bool* keep, int64_t keep_stride, T* y) {
  auto kept = [&](int64_t j) { return keep == nullptr || keep[j * keep_stride]; };
  T largest = -std::numeric_limits<T>::infinity();
  for (int64_t j = 0; j < n; ++j) {
    if (kept(j) && !std::isnan(largest) && !(x[j] <= largest)) largest = x[j];  // once NaN, always NaN
  }
  T sum = 0;
  const bool empty = largest == -std::numeric_limits<T>::infinity();  // nothing kept, or nothing but −∞
  for (int64_t j = 0; j < n; ++j) sum += y[j] = kept(j) && !empty ? std::exp(x[j] - largest) : T{0};
  for (int64_t j = 0; j < n; ++j) y[j] = kept(j) && !empty ? y[j] / sum : T{0};
}

// log Σ exp(x); ±∞ or NaN where that is the largest.
template <class T>
T log_sum_exp(const T* x, int64_t n) {
  T largest = x[0];
  for (int64_t j = 1; j < n; ++j) {
    if (!std::isnan(largest) && !(x[j] <= largest)) largest = x[j];
  }
  if (!std::isfinite(largest)) return largest;
  T sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += std::exp(x[j] - largest);
  return largest + std::log(sum);
}

}  // namespace plain
}  // namespace glass::kernels
