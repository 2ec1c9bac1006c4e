// The same seed gives the same model, and any number of threads the same gradients, to the bit.
#include "autograd/testing.h"
#include "glassformer/base/threads.h"
#include "glassformer/models/translation_model.h"
#include "models/small_config.h"
#include "nn/all_gradients.h"

namespace glass {
namespace {

TransformerConfig config_of(uint64_t seed) {
  TransformerConfig c = test::small_config();
  c.seed = seed;
  return c;
}

const Tensor source = Tensor::from<int32_t>({4, 5, 6, 3, 7, 3, 0, 0}, {2, 4});
const Tensor lengths = Tensor::from<int32_t>({4, 2}, {2});
const Tensor target = Tensor::from<int32_t>({2, 8, 9, 2, 4, 5}, {2, 3});

TEST(Determinism, ASeedIsAModel) {
  const auto logits = [](uint64_t seed) { return TranslationModel(config_of(seed))(source, lengths, target); };
  test::expect_same_bits(logits(1), logits(1));
  EXPECT_NE(logits(1).to_vector(), logits(2).to_vector());
}

TEST(Determinism, AnyNumberOfThreadsGivesTheSameGradients) {
  const int before = threads();
  std::vector<double> first;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    TranslationModel model(config_of(1));
    const ParameterStore store(model);
    backward(cross_entropy(model(source, lengths, target), target, {0.1, 0}));
    const std::vector<double> gradients = test::all_gradients(store).to_vector();
    if (first.empty()) first = gradients;
    EXPECT_EQ(gradients, first) << count << " threads";
  }
  set_threads(before);
}

}  // namespace
}  // namespace glass
