#include "inspect/attention_head.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "glassformer/autograd/ops.h"

namespace glass {

Tensor of_head(const Tensor& x, Dim head) {
  return x.narrowed(1, head, head + 1).contiguous().reshaped({x.size(2), x.size(3)});
}

Tensor head_scores(const CapturedAttention& attention, Dim head, Dim begin, Dim end) {
  const NoGrad values_only;
  const Tensor query = of_head(attention.query, head).narrowed(0, begin, end);               // [n,K]
  return matmul(query * attention.factor(), of_head(attention.key, head).transposed(0, 1));  // [n,S]
}

Tensor head_weights(const CapturedAttention& attention, const Tensor& scores, Dim begin) {
  const NoGrad values_only;
  if (!attention.causal()) return softmax(scores);
  const Tensor keep = AttentionMask::causal().keep({1, 1, scores.size(0), scores.size(1), begin});  // [1,1,n,S]
  return softmax(scores, keep.reshaped(scores.shape()));
}

void mark_masked(const CapturedAttention& attention, Dim begin, Tensor& matrix) {
  const Dim columns = matrix.size(1);
  for (Dim row = 0; row < matrix.size(0); ++row) {
    float* cells = matrix.data<float>() + row * columns;
    std::fill(cells + attention.keys_allowed(begin + row), cells + columns, std::numeric_limits<float>::quiet_NaN());
  }
}

namespace {

double dot(const float* a, const float* b, Dim count) {
  double sum = 0;
  for (Dim i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Σ weight · value
std::vector<double> mixed(const std::vector<double>& weights, const Tensor& value) {
  const Dim width = value.size(1);
  std::vector<double> out(static_cast<size_t>(width));
  const float* row = value.data<float>();
  for (const double weight : weights) {
    for (size_t k = 0; k < out.size(); ++k) out[k] += weight * static_cast<double>(row[k]);
    row += width;
  }
  return out;
}

}  // namespace

AttentionCell attention_cell(const CapturedAttention& attention, Dim head, Dim query_row, Dim key_row) {
  const Tensor query = of_head(attention.query, head), key = of_head(attention.key, head);
  const Dim width = attention.width();
  const float* q = query.data<float>() + query_row * width;
  std::vector<double> scores;
  for (Dim j = 0; j < attention.keys_allowed(query_row); ++j) {
    scores.push_back(dot(q, key.data<float>() + j * width, width) * attention.factor());
  }
  AttentionCell cell;
  cell.dot = dot(q, key.data<float>() + key_row * width, width);
  cell.score = cell.dot * attention.factor();
  cell.allowed = key_row < static_cast<Dim>(scores.size());
  cell.row_max = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights = scores;
  for (double& x : weights) cell.row_sum += x = std::exp(x - cell.row_max);
  for (double& x : weights) x /= cell.row_sum;
  if (cell.allowed) {
    cell.weight = weights[static_cast<size_t>(key_row)];
    const auto higher = std::count_if(scores.begin(), scores.end(), [&](double other) { return other > cell.score; });
    if (!std::isnan(cell.weight)) cell.rank = 1 + higher;
  }
  cell.context = mixed(weights, of_head(attention.value, head));
  return cell;
}

}  // namespace glass
