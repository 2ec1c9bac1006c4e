// Confidence intervals of corpus scores by resampling sentences (Koehn, "Statistical significance tests for machine
// translation evaluation", 2004).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace glass {

// In the score's unit. Holds the middle 95 % of the resamples' scores.
struct Interval {
  double mean = 0, half_width = 0;
};

// Scores `resamples` corpora, each of `sentences` sentences drawn with replacement; `score` gets the numbers
// [sentences] of one, in the order drawn, and is called on this thread. The same arguments give the same interval.
// Number and seed are sacreBLEU's, and so is the rule for the ends, but the draws are our own (base/random.h): the
// interval agrees with sacreBLEU's statistically, not in its digits, and does not belong behind a signature that says
// `bs:1000|seed:12345`. Without sentences, or with fewer than 2 resamples, it is all 0. Rethrows what `score` throws.
Interval bootstrap_interval(size_t sentences, const std::function<double(const std::vector<size_t>&)>& score,
                            int resamples = 1000, uint64_t seed = 12345);

}  // namespace glass
