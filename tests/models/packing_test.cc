// Packed sequences give what the same sequences give with padding: outputs, gradients, dropout.
#include <gtest/gtest.h>

#include <cmath>

#include "glassformer/autograd/autograd.h"
#include "glassformer/models/translation_model.h"
#include "glassformer/nn/parameter_store.h"
#include "models/small_config.h"
#include "nn/all_gradients.h"
#include "tensors.h"

namespace glass {
namespace {

using test::relative_distance;

struct Batch {
  Tensor source = Tensor::from<int32_t>({4, 5, 6, 7, 3, /**/ 8, 3, 0, 0, 0, /**/ 9, 4, 4, 3, 0}, {3, 5});
  Tensor source_lengths = Tensor::from<int32_t>({5, 2, 4}, {3});
  Tensor target = Tensor::from<int32_t>({2, 5, 0, 0, /**/ 2, 6, 7, 8, /**/ 2, 0, 0, 0}, {3, 4});
  Tensor labels = Tensor::from<int32_t>({5, 3, 0, 0, /**/ 6, 7, 8, 3, /**/ 3, 0, 0, 0}, {3, 4});
  Tensor target_lengths = Tensor::from<int32_t>({2, 4, 1}, {3});
};

struct Result {
  double loss;
  Tensor grads;
};

template <class Logits>
Result loss_and_grads(TranslationModel& model, const Tensor& labels, Logits logits) {
  ParameterStore parameters(model);
  parameters.zero_grads();
  const RandomScope random({1, 2, 3});
  model.train();
  const Tensor loss = cross_entropy_sum(logits(), labels, {0.1, 0});
  backward(loss);
  model.train(false);
  return {loss.item(), test::all_gradients(parameters)};
}

class PackedModel : public testing::TestWithParam<PositionKind> {
 protected:
  TransformerConfig config(double dropout) const {
    TransformerConfig config = test::small_config();
    config.positions = GetParam();
    config.dropout = DropoutRates::all(dropout);
    return config;
  }
};

TEST_P(PackedModel, GivesTheLogitsOfEverySequenceAsWithPadding) {
  const TranslationModel model(config(0));
  const Batch b;
  const Tensor padded = model(b.source, b.source_lengths, b.target);                                // [3,4,V]
  const Tensor packed = model(pack(b.source, b.source_lengths), pack(b.target, b.target_lengths));  // [1,7,V]
  Dim row = 0;
  for (const Dim sequence : {0, 1, 2}) {
    const auto length = static_cast<Dim>(b.target_lengths.at({sequence}));
    const Tensor want = padded.narrowed(0, sequence, sequence + 1).narrowed(1, 0, length);
    EXPECT_LT(relative_distance(packed.narrowed(1, row, row + length), want), 1e-5) << sequence;
    row += length;
  }
}

TEST_P(PackedModel, DropsTheSameAndGivesTheSameGradients) {
  for (const double rate : {0.0, 0.3}) {
    TranslationModel model(config(rate));
    const Batch b;
    const Result padded = loss_and_grads(model, b.labels, [&] { return model(b.source, b.source_lengths, b.target); });
    const Tensor labels = pack(b.labels, b.target_lengths).ids;
    const Result packed = loss_and_grads(
        model, labels, [&] { return model(pack(b.source, b.source_lengths), pack(b.target, b.target_lengths)); });
    EXPECT_NEAR(packed.loss, padded.loss, 1e-5 * padded.loss) << rate;
    EXPECT_LT(relative_distance(packed.grads, padded.grads), 1e-5) << rate;
  }
}

INSTANTIATE_TEST_SUITE_P(Positions, PackedModel, testing::Values(PositionKind::sinusoidal, PositionKind::learned),
                         [](const auto& position) {
                           return std::string(position.param == PositionKind::learned ? "learned" : "sinusoidal");
                         });

}  // namespace
}  // namespace glass
