// Series of numbers for forecasting: from CSV files, and the sine task.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "glassformer/tensor/tensor.h"

namespace glass {

// Rows of numbers, one column a channel.
struct Series {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
};

// The chosen columns of a CSV file, in the order asked for; all columns that are numbers in the first row of data if
// none is named. A column is chosen by its name in the first line or, where none has that name, by its number from 1.
// The first line is a header if none of its fields is a number or if it holds a chosen name; without one, columns are
// named by number. Throws InputError with file, line and column (both from 1) for a cell that is missing or not a
// finite number.
Series read_csv(const std::string& path, const std::vector<std::string>& columns);

// One window a row of each tensor, in float32.
struct Windows {
  Tensor history;  // [N,S,C]
  Tensor future;   // [N,horizon,C]
  Dim count() const { return history.size(0); }
};

// Every window of the rows [begin,end) that starts a multiple of `stride` rows after `begin` and fits. Values are
// (x − mean)/deviation by column. Throws InputError if the rows are too few for one window, ValueError for rows outside
// of the series, sizes under 1 or statistics of another number of columns.
Windows make_windows(const Series& series, Dim begin, Dim end, Dim history, Dim horizon,
                     const std::vector<double>& mean, const std::vector<double>& deviation, Dim stride = 1);

// Of the rows [begin,end): pass those of training only, or the test's values leak into it. The deviation is of the
// population (over N); a constant column gets 1. Throws ValueError for rows outside of the series.
struct ColumnStatistics {
  std::vector<double> mean, deviation;
};
ColumnStatistics column_statistics(const Series& series, Dim begin, Dim end);

// The same sine in each window, 0…4π in `history + horizon` points, with normal noise of deviation `noise`: `horizon`
// constants solve it.
Windows sine_tutorial(Dim count, Dim history, Dim horizon, double noise, uint64_t seed);
// Phase (of the whole circle) and frequency (0.5 to 1.5 times 4π in 14 steps) drawn at random for each window; another
// seed gives a held-out set, never seen in training.
Windows sine_random(Dim count, Dim history, Dim horizon, double noise, uint64_t seed);

}  // namespace glass
