// What a recipe's keys mean together: whether they fit, and the model and batches that they describe.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "glassformer/base/error.h"
#include "glassformer/data/text.h"
#include "glassformer/train/recipe.h"

namespace glass {

namespace {

AttentionScale parse_scale(const std::string& text) {
  if (text == "1/sqrt(k)") return AttentionScale::inverse_sqrt();
  if (text == "none") return AttentionScale::none();
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(factor > 0) || factor > 1e6) {
    throw InputError("model.attention_scale is \"" + text + "\"; use \"1/sqrt(k)\", \"none\" or a number above 0");
  }
  return AttentionScale::fixed(factor);
}

void require(bool holds, const std::string& message) {
  if (!holds) throw InputError("recipe: " + message);
}

void check_translation(const Recipe& r) {
  const auto& d = r.data;
  require(!d.pairs.empty() || (!d.source.empty() && !d.target.empty()),
          "name the training text: data.source and data.target, or data.pairs");
  require(d.pairs.empty() || (d.source.empty() && d.target.empty()),
          "data.pairs stands instead of data.source and data.target; name one or the other");
  require(d.valid_source.empty() == d.valid_target.empty(), "data.valid_source and data.valid_target go together");
  require(d.valid_pairs.empty() || d.valid_source.empty(), "name data.valid_pairs or data.valid_source, not both");
  require(r.model.tie_embeddings != "all" || d.vocab == "shared",
          "model.tie_embeddings \"all\" needs data.vocab = \"shared\"");
  require(r.model.positions != "learned" || d.max_length <= r.model.max_positions,
          fmt::format("data.max_length {} is more than model.max_positions {}", d.max_length, r.model.max_positions));
}

}  // namespace

namespace {

// The run keeps them in its recipe, which is UTF-8.
void require_utf8_paths(Recipe r) {
  for (const RecipeKey& key : recipe_keys()) {
    const RecipeKey::Slot slot = key.slot(r);
    if (!key.is_path || !std::holds_alternative<std::string*>(slot)) continue;
    const std::string& path = *std::get<std::string*>(slot);
    require(valid_utf8_prefix(path) == path.size(), key.path() + ": the file's name is not UTF-8; rename it");
  }
}

}  // namespace

void check_recipe(const Recipe& r) {
  require_utf8_paths(r);
  require(r.model.d_model % r.model.heads == 0,
          fmt::format("model.d_model {} is not divisible by model.heads {}", r.model.d_model, r.model.heads));
  parse_scale(r.model.attention_scale);
  require(r.train.betas.size() == 2, "train.betas takes two numbers");
  require(r.train.batch_tokens > 0 || r.train.batch_sentences, "set train.batch_tokens or train.batch_sentences");
  require(r.train.steps || r.train.epochs || r.train.minutes,
          "say when to stop: train.steps, train.epochs or train.minutes");
  require(r.train.best_by != "bleu" || r.train.validate_sentences > 0,
          "train.best_by \"bleu\" needs train.validate_sentences");
  require(r.train.choose != "average" || r.train.average_last > 1,
          "train.choose \"average\" needs train.average_last above 1");
  if (r.model.task == "translate") check_translation(r);
}

TransformerConfig Recipe::model_config() const {
  TransformerConfig c;
  c.d_model = model.d_model;
  c.heads = model.heads;
  c.d_ff = model.d_ff > 0 ? model.d_ff : 4 * model.d_model;
  c.encoder_layers = static_cast<int>(model.encoder_layers.value_or(model.layers));
  c.decoder_layers = static_cast<int>(model.decoder_layers.value_or(model.layers));
  c.dropout = {model.dropout_embedding.value_or(model.dropout), model.dropout_attention.value_or(model.dropout),
               model.dropout_feed_forward.value_or(model.dropout), model.dropout_residual.value_or(model.dropout)};
  c.norm = model.norm == "pre" ? NormScheme::pre : NormScheme::post;
  c.final_norm = model.final_norm;
  c.activation = model.activation == "relu" ? Activation::relu : Activation::gelu;
  c.attention_scale = parse_scale(model.attention_scale);
  c.positions = model.positions == "learned" ? PositionKind::learned : PositionKind::sinusoidal;
  c.max_positions = model.max_positions;
  c.init = {model.init == "xavier" ? InitScheme::xavier : InitScheme::kaiming,
            model.init_embedding == "normal" ? EmbeddingInit::normal : EmbeddingInit::matrix};
  static const std::map<std::string, TieEmbeddings> ties{
      {"none", TieEmbeddings::none}, {"output", TieEmbeddings::output}, {"all", TieEmbeddings::all}};
  c.tie_embeddings = ties.at(model.tie_embeddings);
  c.seed = static_cast<uint64_t>(train.seed);
  return c;
}

BatchLimits Recipe::batch_limits() const {
  if (train.batch_sentences) return {0, *train.batch_sentences};
  return {train.batch_tokens, 0};
}

}  // namespace glass
