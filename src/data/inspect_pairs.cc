#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "glassformer/data/text.h"
#include "glassformer/data/unicode.h"

namespace glass {

namespace {

// One side of a corpus: the length of each row in characters, 0 where there is only white space.
struct Side {
  std::vector<int64_t> lengths;
  int64_t empty = 0, duplicates = 0, longest_line = 0;
  double mean_length = 0;
};

Side inspect_side(const std::vector<std::string>& lines) {
  Side side;
  std::unordered_set<std::string_view> seen;
  int64_t longest = -1, total = 0;
  for (const std::string& line : lines) {
    const std::u32string characters = to_code_points(line);
    const auto length = static_cast<int64_t>(characters.size());
    const bool blank = std::all_of(characters.begin(), characters.end(), is_space);
    side.lengths.push_back(blank ? 0 : length);
    total += length;
    if (blank) ++side.empty;
    if (!seen.insert(line).second) ++side.duplicates;
    if (length > longest) {
      longest = length;
      side.longest_line = static_cast<int64_t>(side.lengths.size());
    }
  }
  side.mean_length = lines.empty() ? 0 : static_cast<double>(total) / static_cast<double>(lines.size());
  return side;
}

// The upper of the two middle values for an even count; `values` is not empty.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void find_length_outliers(const Side& source, const Side& target, PairStatistics& statistics) {
  constexpr double robust_deviations = 5 * 1.4826;  // the second makes it a normal distribution's deviation
  std::vector<double> ratios, distances;
  std::vector<int64_t> lines;
  for (size_t i = 0; i < source.lengths.size(); ++i) {
    if (source.lengths[i] == 0 || target.lengths[i] == 0) continue;
    ratios.push_back(std::log(static_cast<double>(target.lengths[i]) / static_cast<double>(source.lengths[i])));
    lines.push_back(static_cast<int64_t>(i) + 1);
  }
  if (ratios.empty()) return;
  const double middle = median(ratios);
  for (const double ratio : ratios) distances.push_back(std::abs(ratio - middle));
  const double limit = std::max(std::log(3.0), robust_deviations * median(distances));
  for (size_t i = 0; i < lines.size(); ++i) {
    if (distances[i] > limit) statistics.length_outliers.push_back(lines[i]);
  }
  statistics.median_length_ratio = std::exp(middle);
}

}  // namespace

PairStatistics inspect_pairs(const ParallelText& text) {
  const Side source = inspect_side(text.source), target = inspect_side(text.target);
  PairStatistics statistics;
  statistics.pairs = static_cast<int64_t>(text.size());
  statistics.duplicate_sources = source.duplicates;
  statistics.duplicate_targets = target.duplicates;
  statistics.empty_sources = source.empty;
  statistics.empty_targets = target.empty;
  statistics.mean_source_length = source.mean_length;
  statistics.mean_target_length = target.mean_length;
  statistics.longest_source_line = source.longest_line;
  statistics.longest_target_line = target.longest_line;
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < text.size(); ++i) {
    // The length in front tells "ab"+"c" from "a"+"bc".
    const std::string key = std::to_string(text.source[i].size()) + ":" + text.source[i] + text.target[i];
    if (!seen.insert(key).second) ++statistics.duplicate_pairs;
    if (source.lengths[i] > 0 && text.source[i] == text.target[i]) ++statistics.copies;
  }
  find_length_outliers(source, target, statistics);
  return statistics;
}

}  // namespace glass
