// metrics.jsonl, the history of a run, as it stands.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace glass {

// One line: the numbers of one step, by name, in the line's order.
struct MetricsLine {
  int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;
};

// A last line that was cut off, as a killed run or one that still writes may leave it, is passed over, and so are
// fields that are no numbers. Throws InputError, naming file and line, for anything else that is no metrics, or if
// there are none or no file.
std::vector<MetricsLine> read_metrics_file(const std::string& path);

}  // namespace glass
