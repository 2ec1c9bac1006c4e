#include "autograd/testing.h"
#include "glassformer/models/translation_model.h"
#include "glassformer/nn/parameter_store.h"

namespace glass {
namespace {

TransformerConfig config_of(TieEmbeddings tie) {
  TransformerConfig c;
  c.d_model = 15;
  c.heads = 3;
  c.d_ff = 20;
  c.encoder_layers = c.decoder_layers = 2;
  c.source_vocabulary = c.target_vocabulary = 11;
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
