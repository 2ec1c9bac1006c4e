#include "glassformer/models/config.h"

#include "autograd/testing.h"
#include "models/small_config.h"

namespace glass {
namespace {

TEST(Config, ComesBackWholeFromItsJson) {
  TransformerConfig c = test::small_config();
  c.tie_embeddings = TieEmbeddings::none;
  c.norm = NormScheme::post;
  c.final_norm = true;
  c.attention_scale = AttentionScale::fixed(0.125);
  c.positions = PositionKind::learned;
  const std::string json = config_to_json(c);
  EXPECT_EQ(config_to_json(config_from_json(json)), json);
  EXPECT_NE(config_to_json({}), json);
}

TEST(Config, NoScaleAndAScaleOfZeroAreToldApart) {
  for (const AttentionScale& scale :
       {AttentionScale::inverse_sqrt(), AttentionScale::none(), AttentionScale::fixed(0)}) {
    TransformerConfig c;
    c.attention_scale = scale;
    EXPECT_EQ(config_from_json(config_to_json(c)).attention_scale.fixed_factor(), scale.fixed_factor());
  }
}

TEST(Config, FaultsAreNamed) {
  const auto fault = [](const std::string& json, const std::string& part) {
    test::expect_error<InputError>([&] { config_from_json(json); }, {part});
  };
  fault(R"({"d_modle": 4})", "unknown field \"d_modle\"");
  fault(R"({"d_model": "4"})", "\"d_model\" has the wrong type");
  fault(R"({"d_model": 3.9})", "\"d_model\" has the wrong type: 3.9");  // no number is rounded
  fault(R"({"encoder_layers": true})", "\"encoder_layers\" has the wrong type");
  fault(R"({"encoder_layers": 4294967297})", "\"encoder_layers\" has the wrong type");  // nor cut to its lower half
  fault(R"({"seed": -1})", "\"seed\" has the wrong type");
  fault(R"({"final_norm": 1})", "\"final_norm\" has the wrong type");
  fault(R"({"decoder_layers": 0})", "between 1 and 1000");
  fault(R"({"d_model": 10, "heads": 3})", "10 is not divisible by heads 3");
  fault(R"({"norm": "middle"})", "\"norm\" is unknown: \"middle\"");
  fault("[]", "not a JSON object");
  fault("{", "not JSON");
}

}  // namespace
}  // namespace glass
