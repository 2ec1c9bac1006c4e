// Statistics and windows of a series.
#include <algorithm>
#include <cmath>

#include "glassformer/base/error.h"
#include "glassformer/data/series.h"

namespace glass {

namespace {

double value_at(const Series& series, Dim row, size_t column) { return series.rows[static_cast<size_t>(row)][column]; }

void check_rows(const Series& series, Dim begin, Dim end) {
  const auto rows = static_cast<Dim>(series.rows.size());
  if (begin < 0 || begin > end || end > rows) {
    throw ValueError("series: rows [" + std::to_string(begin) + "," + std::to_string(end) + ") of " +
                     std::to_string(rows));
  }
}

double mean_of(const Series& series, Dim begin, Dim end, size_t column) {
  double sum = 0;
  for (Dim row = begin; row < end; ++row) sum += value_at(series, row, column);
  return sum / static_cast<double>(std::max<Dim>(1, end - begin));
}

// Whether the column is constant is asked of the values: the rounding of a mean would make it vary a little, and
// dividing by so small a deviation would blow up the first value that differs.
double deviation_of(const Series& series, Dim begin, Dim end, size_t column, double mean) {
  double squares = 0;
  bool constant = true;
  for (Dim row = begin; row < end; ++row) {
    const double value = value_at(series, row, column);
    constant &= value == value_at(series, begin, column);
    squares += (value - mean) * (value - mean);
  }
  return constant ? 1 : std::sqrt(squares / static_cast<double>(end - begin));
}

// Copies `steps` normalized rows from row `from` on.
float* copy_rows(const Series& series, Dim from, Dim steps, const std::vector<double>& mean,
                 const std::vector<double>& deviation, float* out) {
  for (Dim row = from; row < from + steps; ++row) {
    for (size_t c = 0; c < mean.size(); ++c)
      *out++ = static_cast<float>((value_at(series, row, c) - mean[c]) / deviation[c]);
  }
  return out;
}

}  // namespace

ColumnStatistics column_statistics(const Series& series, Dim begin, Dim end) {
  check_rows(series, begin, end);
  ColumnStatistics out;
  for (size_t c = 0; c < series.columns.size(); ++c) {
    out.mean.push_back(mean_of(series, begin, end, c));
    out.deviation.push_back(deviation_of(series, begin, end, c, out.mean.back()));
  }
  return out;
}

Windows make_windows(const Series& series, Dim begin, Dim end, Dim history, Dim horizon,
                     const std::vector<double>& mean, const std::vector<double>& deviation, Dim stride) {
  const size_t columns = series.columns.size();
  if (history < 1 || horizon < 1 || stride < 1) {
    throw ValueError("series: history " + std::to_string(history) + ", horizon " + std::to_string(horizon) +
                     " and stride " + std::to_string(stride) + " must be at least 1");
  }
  if (mean.size() != columns || deviation.size() != columns) {
    throw ValueError("series: statistics of " + std::to_string(mean.size()) + " columns for " +
                     std::to_string(columns));
  }
  if (end - begin < history + horizon) {
    throw InputError("series: " + std::to_string(end - begin) + " rows are fewer than history " +
                     std::to_string(history) + " + horizon " + std::to_string(horizon));
  }
  check_rows(series, begin, end);
  const Dim count = (end - begin - history - horizon) / stride + 1, channels = static_cast<Dim>(columns);
  Windows windows{Tensor::empty({count, history, channels}), Tensor::empty({count, horizon, channels})};
  float* past = windows.history.data<float>();
  float* future = windows.future.data<float>();
  for (Dim window = 0; window < count; ++window) {
    const Dim first = begin + window * stride;
    past = copy_rows(series, first, history, mean, deviation, past);
    future = copy_rows(series, first + history, horizon, mean, deviation, future);
  }
  return windows;
}

}  // namespace glass
