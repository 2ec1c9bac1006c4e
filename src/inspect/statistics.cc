#include "glassformer/inspect/statistics.h"

#include <algorithm>
#include <cmath>

namespace glass {

double Statistics::deviation() const { return finite() > 0 ? std::sqrt(squares / static_cast<double>(finite())) : 0; }

// Chan, Golub & LeVeque, "Algorithms for computing the sample variance", 1983: exact means and sums of squares of the
// parts give those of the whole without the cancellation of Σx² − (Σx)²/n.
void Statistics::add(const Statistics& other) {
  count += other.count;
  non_finite += other.non_finite;
  if (other.finite() == 0) return;
  const auto all = static_cast<double>(finite()), theirs = static_cast<double>(other.finite()), ours = all - theirs;
  const double apart = other.mean - mean;
  mean += apart * theirs / all;
  squares += other.squares + apart * apart * ours * theirs / all;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

void Statistics::add(const Tensor& values) { add(statistics_of(values)); }

Statistics statistics_of(const Tensor& values) {
  Statistics s;
  const std::vector<double> numbers = values.to_vector();
  s.count = static_cast<Dim>(numbers.size());
  double sum = 0;
  for (const double x : numbers) {
    if (!std::isfinite(x)) {
      ++s.non_finite;
      continue;
    }
    sum += x;
    s.min = std::min(s.min, x);
    s.max = std::max(s.max, x);
  }
  if (s.finite() == 0) return s;
  s.mean = sum / static_cast<double>(s.finite());
  for (const double x : numbers) {
    if (std::isfinite(x)) s.squares += (x - s.mean) * (x - s.mean);
  }
  return s;
}

}  // namespace glass
