// Products with a weight matrix kept in bytes: W ≈ scale_i · w_i for each row i. Reading the weights is what a product
// of a few rows costs, and a byte is a quarter of a float32.
#pragma once

#include <cstdint>

namespace glass::kernels {

struct Int8Matrix {
  const int8_t* values;  // [rows, columns], dense
  const float* scales;   // [rows]
  int64_t rows, columns;
};

// Bytes and scales of w [rows, columns]: scale_i = max |w_i|/127, rounded to the nearest, ties
// to even. A row with a number that is not finite gets NaN for its scale, and so NaN for its products.
void quantize_rows(const float* w, int64_t rows, int64_t columns, int8_t* values, float* scales);

// y = x·Wᵀ + bias for x [m, columns] -> y [m, rows]; bias may be null. Meant for few rows m: the weights are read once
// for each four of them.
void int8_product(const float* x, int64_t m, const Int8Matrix& w, const float* bias, float* y);

namespace plain {

inline void int8_product(const float* x, int64_t m, const Int8Matrix& w, const float* bias, float* y) {
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t i = 0; i < w.rows; ++i) {
      float sum = 0;
      for (int64_t j = 0; j < w.columns; ++j) {
        sum += x[r * w.columns + j] * static_cast<float>(w.values[i * w.columns + j]);
      }
      y[r * w.rows + i] = w.scales[i] * sum + (bias != nullptr ? bias[i] : 0);
    }
  }
}

}  // namespace plain
}  // namespace glass::kernels
