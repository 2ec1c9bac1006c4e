// Confidence intervals of corpus scores by resampling sentences (Koehn, 2004).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace glass {

struct Interval {
  double mean = 0, half_width = 0;  // of 95 %
};

// `score` gets the sentence numbers of one resample. The draws are our own, so the interval agrees with sacreBLEU's
// statistically, not in its digits.
Interval bootstrap_interval(size_t sentences, const std::function<double(const std::vector<size_t>&)>& score,
                            int resamples = 1000, uint64_t seed = 12345);

}  // namespace glass
