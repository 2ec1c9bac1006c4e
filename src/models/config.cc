#include "glassformer/models/config.h"

#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "glassformer/base/error.h"

namespace glass {

namespace {

using Json = nlohmann::ordered_json;

template <class Value>
using Names = std::map<std::string, Value>;

const Names<NormScheme> norm_names{{"pre", NormScheme::pre}, {"post", NormScheme::post}};
const Names<Activation> activation_names{{"relu", Activation::relu}, {"gelu", Activation::gelu}};
const Names<PositionKind> position_names{{"sinusoidal", PositionKind::sinusoidal}, {"learned", PositionKind::learned}};
const Names<InitScheme> init_names{{"xavier", InitScheme::xavier}, {"kaiming", InitScheme::kaiming}};
const Names<EmbeddingInit> embedding_init_names{{"normal", EmbeddingInit::normal}, {"matrix", EmbeddingInit::matrix}};
const Names<TieEmbeddings> tie_names{
    {"none", TieEmbeddings::none}, {"output", TieEmbeddings::output}, {"all", TieEmbeddings::all}};

// Moves each field between the struct and its name in one place: written when saving, read when loading.
class Fields {
 public:
  explicit Fields(Json& json, bool reading) : json_(json), reading_(reading) {}

  template <class Value>
  void value(const char* name, Value& field) {
    if (!reading_) {
      json_[name] = field;
    } else if (take(name)) {
      if (!read(json_.at(name), field)) {
        throw InputError("model configuration: \"" + std::string(name) +
                         "\" has the wrong type: " + json_.at(name).dump());
      }
    }
  }

  template <class Value>
  void choice(const char* name, Value& field, const Names<Value>& names) {
    std::string text;
    for (const auto& [key, choice] : names) {
      if (choice == field) text = key;
    }
    value(name, text);
    const auto found = names.find(text);
    if (found == names.end()) {
      throw InputError("model configuration: \"" + std::string(name) + "\" is unknown: \"" + text + "\"");
    }
    field = found->second;
  }

  // Throws if the object held anything that no field asked for.
  void require_all_taken() const {
    if (!reading_) return;
    for (const auto& [key, unused] : json_.items()) {
      if (!taken_.count(key)) throw InputError("model configuration: unknown field \"" + key + "\"");
    }
  }

  // A number, or null for none.
  void optional_number(const char* name, std::optional<double>& field) {
    if (!reading_) {
      json_[name] = field ? Json(*field) : Json(nullptr);
    } else if (json_.contains(name) && json_.at(name).is_null()) {
      taken_[name] = true;
      field.reset();
    } else if (json_.contains(name)) {
      double number = 0;
      value(name, number);
      field = number;
    }
  }

 private:
  // Without conversions: a fraction is no whole number, and what does not fit is no number of that type.
  template <class Value>
  static bool read(const Json& json, Value& field) {
    if constexpr (std::is_same_v<Value, bool>) {
      if (!json.is_boolean()) return false;
    } else if constexpr (std::is_integral_v<Value>) {
      if (!json.is_number_integer()) return false;
      if (json.is_number_unsigned() ? !std::in_range<Value>(json.get<uint64_t>())
                                    : !std::in_range<Value>(json.get<int64_t>()))
        return false;
    } else if constexpr (std::is_floating_point_v<Value>) {
      if (!json.is_number()) return false;
    } else if (!json.is_string()) {
      return false;
    }
    field = json.get<Value>();
    return true;
  }

  bool take(const char* name) {
    taken_[name] = true;
    return json_.contains(name);
  }

  Json& json_;
  bool reading_;
  std::map<std::string, bool> taken_;
};

void scale_field(Fields& fields, AttentionScale& scale) {
  std::optional<double> factor = scale.fixed_factor();
  fields.optional_number("attention_scale", factor);  // null for 1/√K
  scale = factor ? AttentionScale::fixed(*factor) : AttentionScale::inverse_sqrt();
}

void final_norm_field(Fields& fields, TransformerConfig& c) {
  bool present = c.final_norm.value_or(c.norm == NormScheme::pre);
  fields.value("final_norm", present);
  c.final_norm = present;
}

void visit(Fields& fields, TransformerConfig& c) {
  fields.value("d_model", c.d_model);
  fields.value("heads", c.heads);
  fields.value("d_ff", c.d_ff);
  fields.value("encoder_layers", c.encoder_layers);
  fields.value("decoder_layers", c.decoder_layers);
  fields.value("dropout_embedding", c.dropout.embedding);
  fields.value("dropout_attention", c.dropout.attention);
  fields.value("dropout_feed_forward", c.dropout.feed_forward);
  fields.value("dropout_residual", c.dropout.residual);
  fields.choice("norm", c.norm, norm_names);
  final_norm_field(fields, c);
  fields.choice("activation", c.activation, activation_names);
  scale_field(fields, c.attention_scale);
  fields.choice("positions", c.positions, position_names);
  fields.value("max_positions", c.max_positions);
  fields.choice("init", c.init.matrices, init_names);
  fields.choice("init_embedding", c.init.embeddings, embedding_init_names);
  fields.choice("tie_embeddings", c.tie_embeddings, tie_names);
  fields.value("source_vocabulary", c.source_vocabulary);
  fields.value("target_vocabulary", c.target_vocabulary);
  fields.value("input_features", c.input_features);
  fields.value("seed", c.seed);
  fields.require_all_taken();
}

// A file from elsewhere must not make us build something absurd.
void check_ranges(const TransformerConfig& c) {
  auto require = [](bool holds, const std::string& what) {
    if (!holds) throw InputError("model configuration: " + what);
  };
  constexpr Dim most = Dim{1} << 24;
  auto within = [](Dim value, Dim low) { return value >= low && value <= most; };
  require(within(c.d_model, 1) && within(c.heads, 1) && within(c.d_ff, 1), "d_model, heads and d_ff are 1 or more");
  require(c.d_model % c.heads == 0,
          "d_model " + std::to_string(c.d_model) + " is not divisible by heads " + std::to_string(c.heads));
  require(c.encoder_layers >= 1 && c.decoder_layers >= 1 && c.encoder_layers <= 1000 && c.decoder_layers <= 1000,
          "layers are between 1 and 1000");
  for (const double rate : {c.dropout.embedding, c.dropout.attention, c.dropout.feed_forward, c.dropout.residual}) {
    require(rate >= 0 && rate < 1, "dropout rates are in [0,1)");
  }
  require(within(c.source_vocabulary, 0) && within(c.target_vocabulary, 0), "vocabularies are between 0 and 2^24");
  require(within(c.max_positions, 1) && within(c.input_features, 1), "max_positions and input_features are 1 or more");
}

}  // namespace

StackOptions TransformerConfig::encoder_options() const {
  return {d_model,    heads,   d_ff,           encoder_layers, norm, final_norm.value_or(norm == NormScheme::pre),
          activation, dropout, attention_scale};
}

StackOptions TransformerConfig::decoder_options() const {
  StackOptions options = encoder_options();
  options.layers = decoder_layers;
  return options;
}

std::string config_to_json(const TransformerConfig& config) {
  Json json;
  Fields fields(json, false);
  TransformerConfig copy = config;
  visit(fields, copy);
  return json.dump();
}

TransformerConfig config_from_json(const std::string& text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(std::string("model configuration: not JSON: ") + error.what());
  }
  if (!json.is_object()) throw InputError("model configuration: not a JSON object");
  TransformerConfig config;
  Fields fields(json, true);
  visit(fields, config);
  check_ranges(config);
  return config;
}

}  // namespace glass
