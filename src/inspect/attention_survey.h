// All heads of one kind at a glance: small maps, and measures of where the weight falls.
#pragma once

#include <cstdint>
#include <vector>

#include "inspect/attention_head.h"

namespace glass {

struct HeadMeasures {
  double entropy = 0;      // mean over rows of entropy / ln(keys allowed); rows with one key do not count
  double diagonality = 0;  // share of the weight within one token of the diagonal, which goes from corner to corner
  double first = 0;        // share on the first key
  double largest = 0;      // mean over rows of the largest weight
};

struct AttentionSurvey {
  Shape shape;                         // [L,H,r,c]
  std::vector<uint8_t> maps;           // weight bytes: each cell the largest of those it stands for
  std::vector<HeadMeasures> measures;  // [L,H]
};

// One head's matrix at a time is in memory. `layers` are of one kind and size, at least one; maps have at most `size`
// rows and columns.
AttentionSurvey survey_attention(const std::vector<CapturedAttention>& layers, Dim size);

}  // namespace glass
