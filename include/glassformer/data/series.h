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

// The named columns of a CSV file (names of its first line, or numbers from 1 if that is numeric); all numeric columns if
// none is named. Throws InputError with file, line and column for a cell that is missing or not a finite number.
Series read_csv(const std::string& path, const std::vector<std::string>& columns);

// One window a row of each tensor, in float32.
struct Windows {
  Tensor history;  // [N,S,C]
  Tensor future;   // [N,horizon,C]
  Dim count() const { return history.size(0); }
};

// Every window of the rows [begin,end), stride 1, none dropped. Values are (x − mean)/deviation by column.
Windows make_windows(const Series& series, Dim begin, Dim end, Dim history, Dim horizon,
                     const std::vector<double>& mean, const std::vector<double>& deviation);

// Of the rows [begin,end); a constant column gets deviation 1.
struct ColumnStatistics {
  std::vector<double> mean, deviation;
};
ColumnStatistics column_statistics(const Series& series, Dim begin, Dim end);

// The tutorial's sine: 0…4π in `history + horizon` points with normal noise of deviation `noise`. Five constants solve it.
Windows sine_tutorial(Dim count, Dim history, Dim horizon, double noise, uint64_t seed);
// Phase and frequency drawn at random for each window: what is held out was never seen.
Windows sine_random(Dim count, Dim history, Dim horizon, double noise, uint64_t seed);

}  // namespace glass
