#include "inspect/attention_survey.h"

#include <algorithm>
#include <cmath>

#include "inspect/matrix_file.h"

namespace glass {

namespace {

// Σ −p ln p over the keys allowed, as a share of the most there can be. With p = exp(score − log Z) it is
// log Z − Σ p · score, which takes one logarithm a row.
double row_entropy(const float* weights, const float* scores, Dim allowed) {
  double sum = 0;
  for (Dim j = 0; j < allowed; ++j) sum += static_cast<double>(weights[j]) * static_cast<double>(scores[j]);
  const auto largest = std::max_element(weights, weights + allowed) - weights;
  const double log_z = static_cast<double>(scores[largest]) - std::log(static_cast<double>(weights[largest]));
  const double entropy = log_z - sum;
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
    if (allowed > 1) {
      m.entropy += row_entropy(row, scores.data<float>() + i * columns, allowed);
      ++with_choice;
    }
    m.diagonality += row_diagonality(row, allowed, static_cast<double>(i) * slope);
    m.first += static_cast<double>(row[0]);
    m.largest += static_cast<double>(*std::max_element(row, row + allowed));
  }
  m.entropy /= static_cast<double>(std::max<Dim>(1, with_choice));
  for (double* sum : {&m.diagonality, &m.first, &m.largest}) *sum /= static_cast<double>(rows);
  return m;
}

// Appends the largest allowed weight of each block of rows and columns; the mean would hide a thin diagonal.
void pool(const CapturedAttention& attention, const Tensor& weights, Dim rows, Dim columns,
          std::vector<uint8_t>& into) {
  const Dim all_rows = weights.size(0), all_columns = weights.size(1);
  const size_t begin = into.size();
  std::vector<float> largest(static_cast<size_t>(rows * columns), -1);
  std::vector<Dim> column_of;
  for (Dim j = 0; j < all_columns; ++j) column_of.push_back(j * columns / all_columns);
  for (Dim i = 0; i < all_rows; ++i) {
    const float* row = weights.data<float>() + i * all_columns;
    float* to = largest.data() + i * rows / all_rows * columns;
    for (Dim j = 0; j < attention.keys_allowed(i); ++j) {
      float& cell = to[column_of[static_cast<size_t>(j)]];
      cell = std::max(std::max(cell, 0.0f), row[j]);  // NaN is no mask
    }
  }
  into.resize(begin + largest.size());
  std::transform(largest.begin(), largest.end(), into.begin() + static_cast<std::ptrdiff_t>(begin),
                 [](float p) { return p < 0 ? masked_byte : weight_byte(static_cast<double>(p)); });
}

}  // namespace

AttentionSurvey survey_attention(const std::vector<CapturedAttention>& layers, Dim size) {
  const CapturedAttention& first = layers.front();
  const Dim rows = std::min(size, first.queries()), columns = std::min(size, first.keys());
  AttentionSurvey survey;
  survey.shape = {static_cast<Dim>(layers.size()), first.heads(), rows, columns};
  survey.maps.reserve(static_cast<size_t>(survey.shape.numel()));
  for (const CapturedAttention& layer : layers) {
    for (Dim head = 0; head < layer.heads(); ++head) {
      const Tensor scores = head_scores(layer, head, 0, layer.queries()), weights = head_weights(layer, scores, 0);
      pool(layer, weights, rows, columns, survey.maps);
      survey.measures.push_back(measures_of(layer, scores, weights));
    }
  }
  return survey;
}

}  // namespace glass
