// The tree of a beam search: every candidate that a step looked at, and which of them the results consist of.
#pragma once

#include <vector>

#include "glassformer/decode/search.h"

namespace glass {

struct BeamNode {
  int parent = -1;  // index of the node it extends; -1 at the first step
  int step = 0;     // its token's place in the hypothesis
  double length_divisor = 1;
  SearchCandidate candidate;
};

// Listens to the search of one sentence.
class BeamRecord {
 public:
  void add(const SearchStep& step);
  const std::vector<BeamNode>& nodes() const { return nodes_; }
  // The nodes that a result of this search consists of, first token first.
  std::vector<int> nodes_of(const Hypothesis& hypothesis) const;

 private:
  std::vector<int> path_to(int node) const;

  std::vector<BeamNode> nodes_;
  std::vector<int> live_;  // of the latest step
};

}  // namespace glass
