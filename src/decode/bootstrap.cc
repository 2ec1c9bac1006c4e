#include "glassformer/decode/bootstrap.h"

#include <algorithm>

#include "glassformer/base/random.h"

namespace glass {

Interval bootstrap_interval(size_t sentences, const std::function<double(const std::vector<size_t>&)>& score,
                            int resamples, uint64_t seed) {
  if (sentences == 0 || resamples < 2) return {};
  Random random(hash_combine(seed, hash_text("bootstrap")));
  std::vector<double> scores;
  std::vector<size_t> chosen(sentences);
  for (int i = 0; i < resamples; ++i) {
    for (size_t& sentence : chosen) sentence = random.below(sentences);
    scores.push_back(score(chosen));
  }
  std::sort(scores.begin(), scores.end());
  const size_t cut = scores.size() / 40;  // 2.5 % at each end
  Interval interval;
  for (const double value : scores) interval.mean += value / static_cast<double>(scores.size());
  interval.half_width = (scores[scores.size() - 1 - cut] - scores[cut]) / 2;
  return interval;
}

}  // namespace glass
