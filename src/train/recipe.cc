#include "glassformer/train/recipe.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "glassformer/base/error.h"

namespace glass {

namespace {

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
    size_t distance = std::min(edit_distance(path, key.path()), edit_distance(bare, key.name) + 1);
    if (key.path().starts_with(path)) distance = std::min<size_t>(distance, 2);  // "warmup" for "warmup_steps"
    if (distance < least) {
      least = distance;
      nearest = &key;
    }
  }
  throw InputError(where + ": unknown key \"" + path + "\"; did you mean \"" + nearest->path() + "\"?");
}

std::string join(const std::vector<std::string>& items, const char* between) {
  std::string text;
  for (const std::string& item : items) text.append(text.empty() ? "" : between).append(item);
  return text;
}

[[noreturn]] void wrong_type(const RecipeKey& key, const std::string& where, const char* wanted) {
  throw InputError(where + ": " + key.path() + " takes " + wanted);
}

void check_number(const RecipeKey& key, double value, const std::string& where) {
  if (key.low == key.high || (value >= key.low && value <= key.high)) return;
  throw InputError(
      fmt::format("{}: {} is {}; use a number from {} to {}", where, key.path(), value, key.low, key.high));
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
    const double value =
        node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.as_floating_point()->get();
    if (!(value == value)) wrong_type(key_, where_, "a number, not nan");
    check_number(key_, value, where_);
    return value;
  }
  std::string text(const toml::node& node) const {
    if (key_.number_allowed && node.is_number()) return fmt::format("{}", number(node));
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

// The parser calls itself for each part of a dotted key; no key has more than two.
bool has_deep_key(const std::string& text) {
  constexpr int most_parts = 100;
  int parts = 0;
  for (const char c : text) {
    const bool in_key = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '"' ||
                        c == '\'' || c == ' ' || c == '\t';
    parts = c == '.' ? parts + 1 : in_key ? parts : 0;
    if (parts > most_parts) return true;
  }
  return false;
}

toml::table parse_toml(const std::string& text, const std::string& name) {
  if (has_deep_key(text)) throw InputError(name + ": not a recipe: a key of more than a hundred parts");
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError(place(name, error.source()) + ": not TOML: " + std::string(error.description()));
  }
}

bool is_section(const std::string& name) {
  const auto& keys = recipe_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const RecipeKey& key) { return key.section == name; });
}

// A key outside of any section, or a section that there is not.
[[noreturn]] void reject_section(const std::string& name, const toml::node& content, const std::string& file) {
  const std::string where = place(file, content.source());
  if (is_section(name)) throw InputError(fmt::format("{}: [{}] is a section, not a key", where, name));
  if (content.is_table()) {
    throw InputError(fmt::format("{}: unknown section [{}]; use [model], [data] or [train]", where, name));
  }
  find_key(name, where);  // throws, with the nearest key: none has a name without a section
  throw InputError(where + ": a key outside of the sections");
}

}  // namespace

Recipe parse_recipe(const std::string& text, const std::string& name) {
  Recipe recipe;
  const toml::table table = parse_toml(text, name);
  for (const auto& [section, content] : table) {
    const std::string section_name(section.str());
    if (!content.is_table() || !is_section(section_name)) reject_section(section_name, content, name);
    for (const auto& [key, value] : *content.as_table()) {
      assign(recipe, section_name + "." + std::string(key.str()), value, place(name, value.source()));
    }
  }
  return recipe;
}

namespace {

// Replaces every path that is set by change(path).
void change_paths(Recipe& recipe, const std::function<std::filesystem::path(const std::filesystem::path&)>& change) {
  for (const RecipeKey& key : recipe_keys()) {
    if (!key.is_path) continue;
    std::string& path = *std::get<std::string*>(key.slot(recipe));
    if (!path.empty()) path = change(path).string();
  }
}

}  // namespace

Recipe with_absolute_paths(Recipe recipe) {
  change_paths(recipe, [](const auto& path) { return std::filesystem::absolute(path); });
  return recipe;
}

Recipe with_file_names(Recipe recipe) {
  change_paths(recipe, [](const auto& path) { return path.filename(); });
  return recipe;
}

Recipe read_recipe(const std::string& path) {
  std::ifstream file(path);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) {
    throw InputError(path + ": the recipe cannot be opened; check the path");
  }
  std::stringstream text;
  text << file.rdbuf();
  Recipe recipe = parse_recipe(text.str(), path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  change_paths(recipe, [&](const auto& named) { return folder / named; });  // an absolute one replaces the folder
  return recipe;
}

namespace {

// Takes the value of a key that may have none; false if it must have one.
struct Unset {
  template <class T>
  bool operator()(std::optional<T>* slot) const {
    slot->reset();
    return true;
  }
  template <class T>
  bool operator()(T*) const {
    return false;
  }
};

// A value given by --set, as {value = …}. What is no TOML is a text, so that the error says what the key takes.
toml::table value_table(const std::string& value, bool is_text, const std::string& where) {
  const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'');
  if (!is_text || quoted) {
    try {
      return parse_toml("value = " + value, where);
    } catch (const InputError&) {
      if (quoted) throw;
    }
  }
  toml::table table;
  table.insert("value", value);
  return table;
}

}  // namespace

void set_in_recipe(Recipe& recipe, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const std::string where = "--set " + assignment;
  if (equals == std::string::npos) throw InputError(where + ": use --set section.key=value");
  const std::string path = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  const RecipeKey& key = find_key(path, where);
  if (value.empty() && std::visit(Unset(), key.slot(recipe))) return;
  const bool is_text = std::holds_alternative<std::string*>(key.slot(recipe));
  const toml::table table = value_table(value, is_text, where);
  if (table.size() != 1) throw InputError(where + ": one key at a time");
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
    return fmt::format("[{}]", join(items, ", "));
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

}  // namespace glass
