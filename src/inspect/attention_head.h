// One head of a captured attention, its scores and weights computed again from what was captured: queries and keys take
// much less memory than the scores of every head.
#pragma once

#include <string>

#include "glassformer/inspect/explain.h"
#include "glassformer/inspect/trace.h"

namespace glass {

// What one attention of a batch of one had. The tensors are [1,H,T,K] and [1,H,S,K]; nothing is padding.
struct CapturedAttention {
  std::string path;
  AttentionKind kind = AttentionKind::encoder;
  AttentionScale scale;
  Tensor query, key, value, context;

  Dim heads() const { return query.size(1); }
  Dim queries() const { return query.size(2); }
  Dim keys() const { return key.size(2); }
  Dim width() const { return query.size(3); }
  double factor() const { return scale.factor(width()); }
  bool causal() const { return kind == AttentionKind::decoder; }
  // How many keys a query may attend to: the first ones.
  Dim keys_allowed(Dim query_row) const { return causal() ? query_row + 1 : keys(); }
};

// [1,H,N,K] -> [N,K]
Tensor of_head(const Tensor& x, Dim head);

// Scaled scores of the queries [begin,end) before the mask [end−begin,S], and softmax of them over the keys allowed.
Tensor head_scores(const CapturedAttention& attention, Dim head, Dim begin, Dim end);
Tensor head_weights(const CapturedAttention& attention, const Tensor& scores, Dim begin);

// NaN where the mask forbids, in place.
void mark_masked(const CapturedAttention& attention, Dim begin, Tensor& matrix);

// One query and one key in double, each number of softmax on the way.
struct AttentionCell {
  double dot = 0, score = 0;
  bool allowed = true;
  double row_max = 0, row_sum = 0;  // Σ exp(score − row_max) over the keys allowed
  double weight = 0;
  Dim rank = 0;                 // 1 for the row's largest; 0 for a masked key, and where the weight is NaN
  std::vector<double> context;  // [K], Σ weight · value over the row's keys
};
AttentionCell attention_cell(const CapturedAttention& attention, Dim head, Dim query_row, Dim key_row);

}  // namespace glass
