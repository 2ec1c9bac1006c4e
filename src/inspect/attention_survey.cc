#include "inspect/attention_survey.h"

#include <algorithm>
#include <cmath>

#include "glassformer/base/threads.h"
#include "inspect/matrix_file.h"

namespace glass {

namespace {

// Σ a·b; four sums at once, since each addition waits for the one before it.
double dot(const float* a, const float* b, Dim count) {
  double sums[4] = {};
  Dim j = 0;
  for (; j + 4 <= count; j += 4) {
    for (Dim i = 0; i < 4; ++i) sums[i] += static_cast<double>(a[j + i]) * static_cast<double>(b[j + i]);
  }
  for (; j < count; ++j) sums[0] += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The row's largest; NaN if the first is.
float largest_of(const float* row, Dim count) {
  constexpr Dim lanes = 8;
  float most[lanes];
  std::fill_n(most, lanes, row[0]);
  Dim j = 0;
  for (; j + lanes <= count; j += lanes) {
    for (Dim i = 0; i < lanes; ++i) most[i] = most[i] < row[j + i] ? row[j + i] : most[i];
  }
  for (; j < count; ++j) most[0] = std::max(most[0], row[j]);
  return *std::max_element(most, most + lanes);
}

// Σ −p ln p over the keys allowed, as a share of the most there can be. With p = exp(score − log Z) it is
// log Z − Σ p · score, which takes one logarithm a row.
double row_entropy(const float* weights, const float* scores, Dim allowed, float largest) {
  const Dim found = std::find(weights, weights + allowed, largest) - weights;
  const Dim place = found == allowed ? 0 : found;  // where all are NaN
  const double log_z = static_cast<double>(scores[place]) - std::log(static_cast<double>(largest));
  const double entropy = log_z - dot(weights, scores, allowed);
  return (entropy < 0 ? 0 : entropy) / std::log(static_cast<double>(allowed));  // NaN stays
}

double row_diagonality(const float* weights, Dim allowed, double place) {
  const Dim begin = std::max<Dim>(0, static_cast<Dim>(std::ceil(place - 1)));
  const Dim end = std::min(allowed, static_cast<Dim>(std::floor(place + 1)) + 1);
  double sum = 0;
  for (Dim j = begin; j < end; ++j) sum += static_cast<double>(weights[j]);
  return sum;
}

HeadMeasures measures_of(const CapturedAttention& attention, const Tensor& scores, const Tensor& weights) {
  HeadMeasures m;
  const Dim rows = weights.size(0), columns = weights.size(1);
  const double slope = static_cast<double>(columns - 1) / static_cast<double>(std::max<Dim>(1, rows - 1));
  Dim with_choice = 0;
  for (Dim i = 0; i < rows; ++i) {
    const float* row = weights.data<float>() + i * columns;
    const Dim allowed = attention.keys_allowed(i);
    const float largest = largest_of(row, allowed);
    if (allowed > 1) {
      m.entropy += row_entropy(row, scores.data<float>() + i * columns, allowed, largest);
      ++with_choice;
    }
    m.diagonality += row_diagonality(row, allowed, static_cast<double>(i) * slope);
    m.first += static_cast<double>(row[0]);
    m.largest += static_cast<double>(largest);
  }
  m.entropy /= static_cast<double>(std::max<Dim>(1, with_choice));
  for (double* sum : {&m.diagonality, &m.first, &m.largest}) *sum /= static_cast<double>(rows);
  return m;
}

// The largest allowed weight of each block of rows and columns; the mean would hide a thin diagonal.
void pool(const CapturedAttention& attention, const Tensor& weights, Dim rows, Dim columns, uint8_t* to) {
  const Dim all_rows = weights.size(0), all_columns = weights.size(1);
  const auto first_of = [](Dim block, Dim all, Dim blocks) { return (block * all + blocks - 1) / blocks; };
  std::vector<float> largest(static_cast<size_t>(all_columns));  // of a block's rows, column by column
  for (Dim r = 0; r < rows; ++r) {
    std::fill(largest.begin(), largest.end(), -1.0f);
    for (Dim i = first_of(r, all_rows, rows); i < first_of(r + 1, all_rows, rows); ++i) {
      const float* row = weights.data<float>() + i * all_columns;
      float* most = largest.data();
      for (Dim j = 0, end = attention.keys_allowed(i); j < end; ++j)
        most[j] = std::max(std::max(most[j], 0.0f), row[j]);  // NaN is no mask
    }
    for (Dim c = 0; c < columns; ++c) {
      const float p = *std::max_element(largest.begin() + first_of(c, all_columns, columns),
                                        largest.begin() + first_of(c + 1, all_columns, columns));
      *to++ = p < 0 ? masked_byte : weight_byte(static_cast<double>(p));
    }
  }
}

}  // namespace

AttentionSurvey survey_attention(const std::vector<CapturedAttention>& layers, Dim size) {
  const CapturedAttention& first = layers.front();
  const Dim rows = std::min(size, first.queries()), columns = std::min(size, first.keys());
  AttentionSurvey survey;
  survey.shape = {static_cast<Dim>(layers.size()), first.heads(), rows, columns};
  const Dim heads = first.heads(), all = survey.shape[0] * heads;
  survey.maps.resize(static_cast<size_t>(survey.shape.numel()));
  survey.measures.resize(static_cast<size_t>(all));
  parallel_for(all, 1, [&](Dim begin, Dim end) {
    for (Dim i = begin; i < end; ++i) {
      const CapturedAttention& layer = layers[static_cast<size_t>(i / heads)];
      const Tensor scores = head_scores(layer, i % heads, 0, layer.queries()), weights = head_weights(layer, scores, 0);
      pool(layer, weights, rows, columns, survey.maps.data() + i * rows * columns);
      survey.measures[static_cast<size_t>(i)] = measures_of(layer, scores, weights);
    }
  });
  return survey;
}

}  // namespace glass
