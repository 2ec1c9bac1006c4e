// Masks: causal, padding, both, and one of your own. True means "may attend".
#include <cstdio>

#include "glassformer/autograd/ops.h"
#include "glassformer/nn/mask.h"

using namespace glass;

static void show(const char* name, const AttentionMask& mask) {
  const Tensor keep =
      mask.keep({/*batch=*/2, /*heads=*/1, /*queries=*/4, /*keys=*/4, /*first_query=*/0}).expanded({2, 1, 4, 4});
  std::printf("%s\n", name);
  for (Dim query = 0; query < 4; ++query) {
    for (Dim example = 0; example < 2; ++example) {
      std::printf("   ");
      for (Dim key = 0; key < 4; ++key) std::printf("%c ", keep.at({example, 0, query, key}) != 0 ? '1' : '.');
    }
    std::printf("\n");
  }
}

int main() {
  const Tensor lengths = Tensor::from<int32_t>({4, 2}, {2});  // the second example has two tokens, the rest is padding
  show("causal", AttentionMask::causal());
  show("lengths 4 and 2", AttentionMask::lengths(lengths));
  show("both", AttentionMask::causal() & AttentionMask::lengths(lengths));
  show("a window of two",
       AttentionMask::where([](Dim, Dim, Dim query, Dim key) { return query - key >= 0 && query - key < 2; }));

  // A row that may attend to nothing gives zeros, not NaN.
  const Tensor weights = softmax(Tensor::zeros({1, 2}), Tensor::from<bool>({false, false}, {1, 2}));
  std::printf("a row with every key masked: %s\n", weights.text(1).c_str());
  return weights.at({0, 0}) == 0 ? 0 : 1;
}
