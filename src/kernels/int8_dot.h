// Products of weights of eight bits with inputs rounded to eight bits, a scale for each row of both. AVX512-VNNI
// multiplies four bytes by four at once and sums them up as whole numbers, so that a row's result is exact given its
// bytes, whatever else is in the batch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace glass::kernels {

// Weights [rows, columns], in the order in which they are read: 16 rows' next four columns together, then the same
// rows' following four; four such groups of rows are a panel. Rows and columns are filled up with zeros.
class Int8Panels {
 public:
  static constexpr int64_t lanes = 16, vectors = 4, panel_rows = lanes * vectors;

  Int8Panels() = default;
  // From dense rows of bytes in [−127,127], and the scale of each.
  Int8Panels(const int8_t* bytes, const float* scales, int64_t rows, int64_t columns);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t steps() const { return (columns_ + 3) / 4; }
  int64_t panels() const { return (rows_ + panel_rows - 1) / panel_rows; }
  const int8_t* panel(int64_t p) const { return bytes_.data() + p * steps() * panel_rows * 4; }
  const float* scales(int64_t p) const { return scales_.data() + p * panel_rows; }
  // 128 times the sum of each row: what inputs that are stored 128 too high add.
  const int32_t* excess(int64_t p) const { return excess_.data() + p * panel_rows; }

  int8_t at(int64_t row, int64_t column) const {
    const int64_t in_panel = row % panel_rows;
    return panel(row /
                 panel_rows)[((column / 4 * vectors + in_panel / lanes) * lanes + in_panel % lanes) * 4 + column % 4];
  }

 private:
  int64_t rows_ = 0, columns_ = 0;
  std::vector<int8_t> bytes_;
  std::vector<float> scales_;
  std::vector<int32_t> excess_;
};

// y[r,i] = Σ_j x[r,j]·w[i,j] + bias[i], with x[r] rounded to 255 steps between −max|x[r]| and max|x[r]|. x [m,
// columns], y [m, rows], dense; bias [rows] or null. A row of x that is not finite gives NaN. Only where
// has_int8_products() is true.
void int8_dot(const float* x, int64_t m, const Int8Panels& w, const float* bias, float* y);

namespace plain {

inline void int8_dot(const float* x, int64_t m, const Int8Panels& w, const float* bias, float* y) {
  for (int64_t r = 0; r < m; ++r) {
    const float* row = x + r * w.columns();
    float largest = 0;
    for (int64_t j = 0; j < w.columns(); ++j) {
      largest = std::isfinite(row[j]) ? std::max(largest, std::abs(row[j])) : row[j] - row[j];
      if (std::isnan(largest)) break;
    }
    const float inverse = largest > 0 ? 127 / largest : 0;
    for (int64_t i = 0; i < w.rows(); ++i) {
      int32_t sum = 0;
      for (int64_t j = 0; j < w.columns() && !std::isnan(largest); ++j) {
        sum += static_cast<int32_t>(std::nearbyint(row[j] * inverse)) * w.at(i, j);
      }
      const float scale = largest / 127 * w.scales(i / Int8Panels::panel_rows)[i % Int8Panels::panel_rows];
      y[r * w.rows() + i] = scale * static_cast<float>(sum) + (bias != nullptr ? bias[i] : 0);
    }
  }
}

}  // namespace plain

}  // namespace glass::kernels
