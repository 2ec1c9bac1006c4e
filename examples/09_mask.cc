// Adding a mask: local attention that also always sees the first token.
#include <cstdio>

#include "glassformer/autograd/tap.h"
#include "glassformer/nn/stacks.h"

using namespace glass;

int main() {
  // A mask is a value: a small function of batch, head, query and key, combined with others by &.
  const auto local = AttentionMask::where(
      [](Dim /*batch*/, Dim /*head*/, Dim query, Dim key) { return key == 0 || (query - key < 3 && key - query < 3); });
  const AttentionMask mask = local & AttentionMask::causal();

  const EncoderLayer layer(nullptr, "layer", {/*d_model=*/16, /*heads=*/2, /*d_ff=*/32});
  const Tensor x = sinusoidal_encoding(0, 8, 16).reshaped({1, 8, 16});
  double leaked = 0;
  const ListenToTaps listen([&](const std::string& path, const Tensor& value) {
    if (!path.ends_with("weights")) return;
    std::printf("%s of head 0:\n%s\n", path.c_str(),
                value.narrowed(1, 0, 1).contiguous().reshaped({8, 8}).text(2).c_str());
    for (Dim q = 0; q < 8; ++q)
      for (Dim k = 0; k < 8; ++k)
        if (!mask.may_attend(0, 0, q, k)) leaked += value.at({0, 0, q, k});
  });
  layer(x, mask);
  std::printf("weight on masked keys: %g\n", leaked);
  return leaked == 0 ? 0 : 1;
}
