// Adding a position scheme: ALiBi (Press et al., 2022), a penalty on the scores that grows with distance.
#include <cmath>
#include <cstdio>

#include "glassformer/nn/stacks.h"

using namespace glass;

namespace {

class AlibiPositions : public PositionScheme {
 public:
  using PositionScheme::PositionScheme;
  // −slope·|query − key|, a slope for each head: [1,H,T,S]
  Tensor score_bias(const ScoreExtent& e) const override {
    Tensor bias = Tensor::empty({1, e.heads, e.queries, e.keys});
    float* value = bias.data<float>();
    for (Dim h = 0; h < e.heads; ++h) {
      const double slope = std::pow(2.0, -8.0 * static_cast<double>(h + 1) / static_cast<double>(e.heads));
      for (Dim q = 0; q < e.queries; ++q)
        for (Dim k = 0; k < e.keys; ++k)
          *value++ = static_cast<float>(-slope * std::abs(static_cast<double>(e.first_query + q - k)));
    }
    return bias;
  }
};

}  // namespace

int main() {
  const Encoder encoder(nullptr, "encoder", {/*d_model=*/16, /*heads=*/4, /*d_ff=*/32, /*layers=*/2});
  const AlibiPositions alibi(nullptr, "positions");
  const Tensor x = sinusoidal_encoding(0, 6, 16).reshaped({1, 6, 16});

  // Without positions the order of the tokens makes no difference to each token's output; with them it does.
  auto first_token_moves = [&](const PositionScheme* positions) {
    const Tensor a = slice(encoder(x, AttentionMask::none(), positions), 1, 0, 1);
    // A causal mask would tell order too; none is used here.
    const Tensor rotated = index_select(x, 1, Tensor::from<int64_t>({0, 5, 4, 3, 2, 1}, {6}));
    return mse(slice(encoder(rotated, AttentionMask::none(), positions), 1, 0, 1), a).item();
  };
  const double without = first_token_moves(nullptr), with = first_token_moves(&alibi);
  std::printf("reordering the other tokens changes the first one's output by %.1e without positions, %.1e with ALiBi\n",
              without, with);
  return without < 1e-10 && with > 1e-6 ? 0 : 1;
}
