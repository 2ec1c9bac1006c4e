#include "autograd/testing.h"
#include "glassformer/models/translation_model.h"
#include "glassformer/nn/parameter_store.h"
#include "models/small_config.h"

namespace glass {
namespace {

TransformerConfig config_of(TieEmbeddings tie) {
  TransformerConfig c = test::small_config();
  c.tie_embeddings = tie;
  return c;
}

TEST(TiedEmbeddings, AreOneParameter) {
  const auto count = [](TieEmbeddings tie) {
    TranslationModel model(config_of(tie));
    return ParameterStore(model).entries().size();
  };
  EXPECT_EQ(count(TieEmbeddings::none), count(TieEmbeddings::output) + 2);  // output.weight and output.bias
  EXPECT_EQ(count(TieEmbeddings::output), count(TieEmbeddings::all) + 1);
}

TEST(TiedEmbeddings, OfBothSidesNeedOneVocabulary) {
  TransformerConfig wrong = config_of(TieEmbeddings::all);
  wrong.target_vocabulary = 12;
  EXPECT_THROW(TranslationModel{wrong}, ValueError);
}

}  // namespace
}  // namespace glass
