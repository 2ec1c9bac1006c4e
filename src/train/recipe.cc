#include "glassformer/train/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <toml++/toml.h>

#include "glassformer/base/error.h"

namespace glass {

namespace {

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

const RecipeKey& find_key(const std::string& path, const std::string& where) {
  const RecipeKey* nearest = nullptr;
  size_t least = ~size_t{0};
  const std::string bare = path.substr(path.find('.') + 1);
  for (const RecipeKey& key : recipe_keys()) {
    if (key.path() == path) return key;
    const size_t distance = std::min(edit_distance(path, key.path()), edit_distance(bare, key.name) + 1);
    if (distance < least) {
      least = distance;
      nearest = &key;
    }
  }
  throw InputError(where + ": unknown key \"" + path + "\"; did you mean \"" + nearest->path() + "\"?");
}

std::string join(const std::vector<std::string>& items, const char* between) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : between) + item;
  return text;
}

[[noreturn]] void wrong_type(const RecipeKey& key, const std::string& where, const char* wanted) {
  throw InputError(where + ": " + key.path() + " takes " + wanted);
}

void check_number(const RecipeKey& key, double value, const std::string& where) {
  if (key.low == key.high || (value >= key.low && value <= key.high)) return;
  throw InputError(fmt::format("{}: {} is {}, outside of [{}, {}]", where, key.path(), value, key.low, key.high));
}

// Reads one TOML value into the type of the slot.
class Assign {
 public:
  Assign(const RecipeKey& key, const toml::node& node, const std::string& where)
      : key_(key), node_(node), where_(where) {}

  void operator()(bool* slot) const { *slot = boolean(); }
  void operator()(std::optional<bool>* slot) const { *slot = boolean(); }
  void operator()(int64_t* slot) const { *slot = integer(); }
  void operator()(std::optional<int64_t>* slot) const { *slot = integer(); }
  void operator()(double* slot) const { *slot = number(node_); }
  void operator()(std::optional<double>* slot) const { *slot = number(node_); }
  void operator()(std::string* slot) const { *slot = text(node_); }
  void operator()(std::vector<double>* slot) const {
    slot->clear();
    for (const toml::node& item : array()) slot->push_back(number(item));
  }
  void operator()(std::vector<std::string>* slot) const {
    slot->clear();
    for (const toml::node& item : array()) slot->push_back(text(item));
  }

 private:
  bool boolean() const {
    if (!node_.is_boolean()) wrong_type(key_, where_, "true or false");
    return node_.as_boolean()->get();
  }
  int64_t integer() const {
    if (!node_.is_integer()) wrong_type(key_, where_, "a whole number");
    const int64_t value = node_.as_integer()->get();
    check_number(key_, static_cast<double>(value), where_);
    return value;
  }
  double number(const toml::node& node) const {
    if (!node.is_number()) wrong_type(key_, where_, "a number");
    const double value = node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.as_floating_point()->get();
    if (!(value == value)) wrong_type(key_, where_, "a number, not nan");
    check_number(key_, value, where_);
    return value;
  }
  std::string text(const toml::node& node) const {
    // attention_scale may be given as a number.
    if (node.is_number()) return fmt::format("{}", node.is_integer() ? static_cast<double>(node.as_integer()->get())
                                                                      : node.as_floating_point()->get());
    if (!node.is_string()) wrong_type(key_, where_, "a text in quotes");
    const std::string& value = node.as_string()->get();
    if (!key_.choices.empty() && std::find(key_.choices.begin(), key_.choices.end(), value) == key_.choices.end()) {
      throw InputError(where_ + ": " + key_.path() + " is \"" + value + "\"; use one of " + join(key_.choices, ", "));
    }
    return value;
  }
  const toml::array& array() const {
    if (!node_.is_array()) wrong_type(key_, where_, "a list in brackets");
    return *node_.as_array();
  }

  const RecipeKey& key_;
  const toml::node& node_;
  const std::string& where_;
};

void assign(Recipe& recipe, const std::string& path, const toml::node& node, const std::string& where) {
  const RecipeKey& key = find_key(path, where);
  std::visit(Assign(key, node, where), key.slot(recipe));
}

std::string place(const std::string& name, const toml::source_region& region) {
  return name + ":" + std::to_string(region.begin.line);
}

toml::table parse_toml(const std::string& text, const std::string& name) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError(place(name, error.source()) + ": not TOML: " + std::string(error.description()));
  }
}

}  // namespace

Recipe parse_recipe(const std::string& text, const std::string& name) {
  Recipe recipe;
  const toml::table table = parse_toml(text, name);
  for (const auto& [section, content] : table) {
    const std::string section_name(section.str());
    if (!content.is_table()) {
      find_key(section_name, place(name, content.source()));
      continue;
    }
    for (const auto& [key, value] : *content.as_table()) {
      assign(recipe, section_name + "." + std::string(key.str()), value, place(name, value.source()));
    }
  }
  return recipe;
}

namespace {

void make_relative_to(Recipe& recipe, const std::filesystem::path& folder) {
  for (std::string* path : {&recipe.data.source, &recipe.data.target, &recipe.data.pairs, &recipe.data.valid_source,
                            &recipe.data.valid_target, &recipe.data.valid_pairs, &recipe.data.csv}) {
    if (!path->empty() && std::filesystem::path(*path).is_relative()) *path = (folder / *path).lexically_normal().string();
  }
}

}  // namespace

Recipe read_recipe(const std::string& path) {
  std::ifstream file(path);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) {
    throw InputError(path + ": the recipe cannot be opened; check the path");
  }
  std::stringstream text;
  text << file.rdbuf();
  Recipe recipe = parse_recipe(text.str(), path);
  make_relative_to(recipe, std::filesystem::path(path).parent_path());
  return recipe;
}

void set_in_recipe(Recipe& recipe, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const std::string where = "--set " + assignment;
  if (equals == std::string::npos) throw InputError(where + ": use --set section.key=value");
  const std::string path = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  const RecipeKey& key = find_key(path, where);
  const bool is_text = std::holds_alternative<std::string*>(key.slot(recipe));
  const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'');
  toml::table table;
  if (is_text && !quoted) {
    table.insert("value", value);
  } else {
    table = parse_toml("value = " + value, where);
  }
  std::visit(Assign(key, *table.get("value"), where), key.slot(recipe));
}

namespace {

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

// As TOML; empty if there is no value.
struct ValueText {
  std::string operator()(const bool* slot) const { return *slot ? "true" : "false"; }
  std::string operator()(const int64_t* slot) const { return std::to_string(*slot); }
  std::string operator()(const double* slot) const {
    const std::string text = fmt::format("{}", *slot);  // the shortest text that reads back as the same number
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(const std::string* slot) const { return quoted(*slot); }
  template <class T>
  std::string operator()(const std::vector<T>* slot) const {
    std::vector<std::string> items;
    for (const T& item : *slot) items.push_back((*this)(&item));
    return "[" + join(items, ", ") + "]";
  }
  template <class T>
  std::string operator()(const std::optional<T>* slot) const {
    return slot->has_value() ? (*this)(&**slot) : std::string();
  }
};

std::string value_text(const RecipeKey& key, const Recipe& recipe) {
  return std::visit([](auto* slot) { return ValueText()(slot); }, key.slot(const_cast<Recipe&>(recipe)));
}

}  // namespace

std::string recipe_text(const Recipe& recipe) {
  std::string text, section;
  for (const RecipeKey& key : recipe_keys()) {
    if (section != key.section) {
      section = key.section;
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    const std::string value = value_text(key, recipe);
    text += value.empty() ? fmt::format("# {} =\n", key.name) : fmt::format("{} = {}\n", key.name, value);
  }
  return text;
}

std::string first_difference(const Recipe& a, const Recipe& b) {
  for (const RecipeKey& key : recipe_keys()) {
    if (!key.resumable && value_text(key, a) != value_text(key, b)) return key.path();
  }
  return {};
}

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
}

}  // namespace

void check_recipe(const Recipe& r) {
  require(r.model.d_model % r.model.heads == 0,
          fmt::format("model.d_model {} is not divisible by model.heads {}", r.model.d_model, r.model.heads));
  parse_scale(r.model.attention_scale);
  require(r.train.betas.size() == 2, "train.betas takes two numbers");
  require(r.train.batch_tokens > 0 || r.train.batch_sentences, "set train.batch_tokens or train.batch_sentences");
  require(r.train.steps || r.train.epochs || r.train.minutes, "say when to stop: train.steps, train.epochs or train.minutes");
  require((r.train.schedule != "linear" && r.train.schedule != "cosine") || r.train.steps,
          "train.schedule \"" + r.train.schedule + "\" needs train.steps, to know where it ends");
  require(r.train.best_by != "bleu" || r.train.validate_sentences > 0, "train.best_by \"bleu\" needs train.validate_sentences");
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
  c.init = model.init == "xavier" ? InitScheme::xavier : InitScheme::kaiming;
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
