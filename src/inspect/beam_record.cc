#include "inspect/beam_record.h"

#include <algorithm>

#include "glassformer/data/vocabulary.h"

namespace glass {

void BeamRecord::add(const SearchStep& step) {
  std::vector<int> live;
  for (const SearchCandidate& candidate : step.candidates) {
    if (candidate.state == SearchCandidate::State::live) live.push_back(static_cast<int>(nodes_.size()));
    const int parent = live_.empty() ? -1 : live_.at(candidate.parent);
    nodes_.push_back({parent, static_cast<int>(step.length) - 1, step.length_divisor, candidate});
  }
  live_ = std::move(live);
}

std::vector<int> BeamRecord::path_to(int node) const {
  std::vector<int> path;
  for (; node >= 0; node = nodes_[static_cast<size_t>(node)].parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

// Hypotheses are distinct, so their tokens tell which one it is.
std::vector<int> BeamRecord::nodes_of(const Hypothesis& hypothesis) const {
  std::vector<int32_t> wanted = hypothesis.tokens;
  if (hypothesis.complete) wanted.push_back(eos_token);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].candidate.state != SearchCandidate::State::finished) continue;
    const std::vector<int> path = path_to(static_cast<int>(i));
    const auto has_token = [&](int node, int32_t token) {
      return nodes_[static_cast<size_t>(node)].candidate.token == token;
    };
    if (std::equal(path.begin(), path.end(), wanted.begin(), wanted.end(), has_token)) return path;
  }
  return {};
}

}  // namespace glass
