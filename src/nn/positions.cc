#include "glassformer/nn/positions.h"

#include <algorithm>
#include <cmath>

#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"

namespace glass {

Tensor PositionScheme::embed(const Tensor& x, Dim /*first*/) const { return x; }
Tensor PositionScheme::embed(const Tensor& /*x*/, const Packing& /*packing*/) const {
  throw Error(std::string(kind()) + ": it cannot work on packed sequences; pad them");
}
QueryKey PositionScheme::rotate(const QueryKey& query_key, Dim /*first*/) const { return query_key; }
Tensor PositionScheme::score_bias(const ScoreExtent& /*extent*/) const { return {}; }

Tensor sinusoidal_encoding(Dim first, Dim count, Dim d_model) {
  Tensor out = Tensor::empty({count, d_model});
  float* value = out.data<float>();
  for (Dim position = first; position < first + count; ++position) {
    for (Dim column = 0; column < d_model; ++column) {
      const auto exponent = static_cast<double>(column / 2 * 2) / static_cast<double>(d_model);
      const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
      *value++ = static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return out;
}

namespace {
constexpr Dim ready_positions = 512;
}

SinusoidalPositions::SinusoidalPositions(Module* parent, std::string name, Dim d_model)
    : PositionScheme(parent, std::move(name)), table_(sinusoidal_encoding(0, ready_positions, d_model)) {}

Tensor SinusoidalPositions::embed(const Tensor& x, Dim first) const {
  const Scope scope(name());
  const Dim count = x.size(1);
  const bool ready = first + count <= ready_positions;
  const Tensor encoding = ready ? table_.narrowed(0, first, first + count)  // [T,D]
                                : sinusoidal_encoding(first, count, x.size(2));
  return add(x, tap("encoding", encoding));
}

Tensor SinusoidalPositions::embed(const Tensor& x, const Packing& packing) const {
  const Scope scope(name());
  const auto& lengths = packing.lengths();
  const Dim longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  const Tensor table = longest <= ready_positions ? table_ : sinusoidal_encoding(0, longest, x.size(2));
  return add(x, tap("encoding", embedding(table, packing.positions())));
}

LearnedPositions::LearnedPositions(Module* parent, std::string name, Dim max_positions, Dim d_model)
    : PositionScheme(parent, std::move(name)),
      weight(parameter("weight", {max_positions, d_model}, Initial::embedding)) {}

Tensor LearnedPositions::embed(const Tensor& x, Dim first) const {
  const Scope scope(name());
  const Dim end = first + x.size(1);
  check_length(end);
  return add(x, tap("encoding", slice(weight, 0, first, end)));
}

Tensor LearnedPositions::embed(const Tensor& x, const Packing& packing) const {
  const Scope scope(name());
  for (const int64_t length : packing.lengths()) check_length(length);
  return add(x, tap("encoding", embedding(weight, packing.positions())));
}

void LearnedPositions::check_length(Dim length) const {
  if (length <= weight.size(0)) return;
  throw ValueError("learned positions: an input of " + std::to_string(length) + " tokens, but the model has " +
                   std::to_string(weight.size(0)) +
                   " positions; shorten the input, or train with a larger max_positions or sinusoidal positions");
}

std::unique_ptr<PositionScheme> make_positions(PositionKind kind, Module* parent, std::string name, Dim max_positions,
                                               Dim d_model) {
  if (kind == PositionKind::learned) {
    return std::make_unique<LearnedPositions>(parent, std::move(name), max_positions, d_model);
  }
  return std::make_unique<SinusoidalPositions>(parent, std::move(name), d_model);
}

}  // namespace glass
