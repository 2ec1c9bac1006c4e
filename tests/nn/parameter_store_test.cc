#include "glassformer/nn/parameter_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "autograd/testing.h"
#include "glassformer/nn/stacks.h"
#include "nn/all_gradients.h"

namespace glass {
namespace {

// An embedding whose table is also the output layer's matrix, and a layer between them.
struct TiedModel : Module {
  TiedModel() : Module(nullptr, "") {}
  Tensor forward(const Tensor& ids) const { return output(middle(embedding(ids))); }

  TokenEmbedding embedding{this, "embedding", 7, 5};
  Linear middle{this, "middle", 5, 5};
  Linear output{this, "output", embedding.weight};
};

const Tensor ids = Tensor::from<int32_t>({1, 6, 1, 3}, {1, 4});

const ParameterStore::Entry& entry_of(const ParameterStore& store, const std::string& name) {
  for (const auto& entry : store.entries()) {
    if (std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end()) return entry;
  }
  throw Error("no parameter " + name);
}

// [N] elements of a flat buffer that belong to an entry.
std::vector<double> part(const Tensor& flat, const ParameterStore::Entry& entry) {
  return flat.narrowed(0, entry.offset, entry.offset + entry.tensor.numel()).to_vector();
}

TEST(ParameterStore, KeepsValuesAndSharesThemBothWays) {
  TiedModel model;
  const std::vector<double> before = model.forward(ids).to_vector();
  const ParameterStore store(model);
  EXPECT_EQ(model.forward(ids).to_vector(), before);
  for (const NamedParameter& p : model.named_parameters()) {
    EXPECT_EQ(part(store.values(), entry_of(store, p.name)), p.tensor.to_vector()) << p.name;
  }
  model.middle.bias.fill(3);  // a write to the module is seen in the buffer
  EXPECT_EQ(part(store.values(), entry_of(store, "middle.bias")), std::vector<double>(5, 3));
  Tensor flat = store.values();
  flat.fill(2);  // and the other way round
  for (const NamedParameter& p : model.named_parameters()) EXPECT_EQ(p.tensor.to_vector()[0], 2) << p.name;
}

TEST(ParameterStore, ATiedTensorIsThereOnceUnderBothNames) {
  TiedModel model;
  const ParameterStore store(model);
  ASSERT_EQ(store.entries().size(), 3U);  // the table, the middle's weight and bias
  const ParameterStore::Entry table = entry_of(store, "embedding.weight");
  EXPECT_EQ(table.names, (std::vector<std::string>{"embedding.weight", "output.weight"}));
  EXPECT_TRUE(model.embedding.weight.same_as(model.output.weight));
  EXPECT_EQ(table.initial, Initial::embedding);
}

TEST(ParameterStore, NamesAreUniqueAndPartsApart) {
  TiedModel model;
  const ParameterStore store(model);
  std::vector<std::string> names;
  Dim end = 0;
  for (const auto& entry : store.entries()) {
    names.insert(names.end(), entry.names.begin(), entry.names.end());
    EXPECT_GE(entry.offset, end);
    end = entry.offset + entry.tensor.numel();
  }
  EXPECT_LE(end, store.size());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"embedding.weight", "middle.bias", "middle.weight", "output.weight"}));
}

// Parameters deep inside are there under their whole paths.
TEST(ParameterStore, ReachesEachLayerOfAStack) {
  Encoder encoder(nullptr, "", {8, 2, 16, 1, NormScheme::pre, true, Activation::relu, DropoutRates::all(0), {}});
  const ParameterStore store(encoder);
  const ParameterStore::Entry entry = entry_of(store, "layers.0.self_attn.query.weight");
  EXPECT_EQ(part(store.values(), entry), encoder.layers[0].self_attn.query.weight.to_vector());
  Tensor flat = store.values();
  flat.fill(0);
  EXPECT_EQ(encoder.layers[0].self_attn.query.weight.to_vector(), std::vector<double>(8 * 8, 0));
}

// The table's gradient has both its uses in it: those of the embedding alone and of the output layer alone, added.
TEST(ParameterStore, ATiedGradientIsTheSumOfItsUses) {
  const auto table_grad = [](bool through_embedding, bool through_output) {
    TiedModel model;
    const ParameterStore store(model);
    const Tensor embedded = model.embedding(ids),
                 hidden = model.middle(through_embedding ? embedded : embedded.detach());
    const Tensor& table = model.output.weight;
    backward(sum(linear(hidden, through_output ? table : table.detach(), {})));
    return ParameterStore::gradient(entry_of(store, "embedding.weight")).to_vector();
  };
  const std::vector<double> both = table_grad(true, true), embedding = table_grad(true, false),
                            output = table_grad(false, true);
  for (size_t i = 0; i < both.size(); ++i) EXPECT_NEAR(both[i], embedding[i] + output[i], 1e-5);  // float32 sums
  EXPECT_NE(both, embedding);
  EXPECT_NE(both, output);
}

TEST(ParameterStore, GradientsAccumulateUntilZeroed) {
  TiedModel model;
  ParameterStore store(model);
  backward(sum(model.forward(ids)));
  const std::vector<double> once = test::all_gradients(store).to_vector();
  backward(sum(model.forward(ids)));
  const std::vector<double> twice = test::all_gradients(store).to_vector();
  ASSERT_NE(once, std::vector<double>(once.size(), 0));
  // A tied gradient is (a + b) + a + b in some order: rounding.
  for (size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(twice[i], 2 * once[i], 1e-5 * std::abs(once[i]) + 1e-6);
  store.zero_grads();
  EXPECT_EQ(test::all_gradients(store).to_vector(), std::vector<double>(once.size(), 0));
  backward(sum(model.forward(ids)));
  EXPECT_EQ(test::all_gradients(store).to_vector(), once);
}

// What the backward pass needs is what the forward pass leaves.
TEST(ParameterStore, GradientsHoldNoMemoryWhileTheyAreZero) {
  TiedModel model;
  const size_t without = memory_use().current;
  ParameterStore store(model);
  backward(sum(model.forward(ids)));
  const size_t with = memory_use().current;
  store.zero_grads();
  EXPECT_LE(memory_use().current + sizeof(float) * static_cast<size_t>(store.count()), with);
  EXPECT_GT(with, without);
  for (const NamedParameter& p : model.named_parameters()) EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
}

TEST(ParameterStore, OutlivesItsModule) {
  auto model = std::make_unique<TiedModel>();
  const ParameterStore store(*model);
  const std::vector<double> weight = model->middle.weight.to_vector();
  model.reset();
  EXPECT_EQ(part(store.values(), entry_of(store, "middle.weight")), weight);
}

}  // namespace
}  // namespace glass
