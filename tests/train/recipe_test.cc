#include "glassformer/train/recipe.h"

#include <gtest/gtest.h>

#include <set>

#include "glassformer/base/error.h"
#include "train/training_runs.h"

namespace glass {
namespace {

using test::TemporaryFolder;
using test::write_text;

// What the recipe's reader says about `toml`.
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}
std::string parse_error(const std::string& toml) {
  return message_of([&] { parse_recipe(toml, "r.toml"); });
}
std::string set_error(const std::string& assignment) {
  return message_of([&] {
    Recipe recipe;
    set_in_recipe(recipe, assignment);
  });
}
std::string check_error(const std::vector<std::string>& assignments) {
  return message_of([&] {
    Recipe recipe;
    for (const std::string& a : assignments) set_in_recipe(recipe, a);
    check_recipe(recipe);
  });
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" does not say \"" << part << "\"";
}

// A value other than the default for every key, through the table itself: a key that is forgotten anywhere shows.
struct OtherValue {
  const RecipeKey& key;
  void operator()(bool* slot) const { *slot = !*slot; }
  void operator()(int64_t* slot) const { *slot = key.low == key.high ? 7 : static_cast<int64_t>(key.low) + 3; }
  void operator()(double* slot) const { *slot = key.low + 0.1 * (std::min(key.high, 1.0) - key.low) / 3; }
  void operator()(std::string* slot) const { *slot = key.choices.empty() ? "a \"b\"\\ \t'ü 中'" : key.choices.back(); }
  void operator()(std::vector<double>* slot) const { *slot = {0.1, 1.0 / 3}; }
  void operator()(std::vector<std::string>* slot) const { *slot = {"x", "y \"z\""}; }
  template <class T>
  void operator()(std::optional<T>* slot) const {
    T value{};
    (*this)(&value);
    *slot = value;
  }
};

TEST(Recipe, WrittenAndReadAgainIsTheSame) {
  const Recipe defaults;
  EXPECT_EQ(recipe_text(parse_recipe(recipe_text(defaults), "r")), recipe_text(defaults));
  Recipe other;
  for (const RecipeKey& key : recipe_keys()) std::visit(OtherValue{key}, key.slot(other));
  const Recipe again = parse_recipe(recipe_text(other), "r");
  EXPECT_EQ(recipe_text(again), recipe_text(other));
  EXPECT_EQ(again.train.betas, other.train.betas);  // the numbers themselves, bit for bit
  EXPECT_EQ(again.data.source, other.data.source);
  EXPECT_EQ(again.model.final_norm, other.model.final_norm);
}

TEST(Recipe, EachKeyIsListedOnceWithItsHelp) {
  std::set<std::string> paths;
  for (const RecipeKey& key : recipe_keys()) {
    EXPECT_TRUE(paths.insert(key.path()).second) << key.path();
    EXPECT_NE(std::string(key.help), "") << key.path();
  }
}

TEST(Recipe, EveryKeyCanBeSet) {
  Recipe other;
  for (const RecipeKey& key : recipe_keys()) std::visit(OtherValue{key}, key.slot(other));
  Recipe set;
  std::istringstream lines(recipe_text(other));
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[")) section = line.substr(1, line.size() - 2);
    const size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    set_in_recipe(set, section + "." + line.substr(0, equals) + "=" + line.substr(equals + 3));
  }
  EXPECT_EQ(recipe_text(set), recipe_text(other));
}

TEST(Recipe, ReadsTheFormsOfValues) {
  const Recipe r = parse_recipe(R"(
[model]
dropout = 0          # a whole number where a fraction is meant
attention_scale = 0.25
dropout_attention = 0.3
[data]
columns = ["a", "b"]
[train]
minutes = 3
)",
                                "r");
  EXPECT_EQ(r.model.dropout, 0);
  EXPECT_EQ(r.model_config().attention_scale.factor(64), 0.25);
  EXPECT_EQ(r.model_config().dropout.attention, 0.3);
  EXPECT_EQ(r.model_config().dropout.residual, 0);
  EXPECT_EQ(r.data.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(r.train.minutes, 3.0);
  EXPECT_FALSE(r.train.steps.has_value());
}

TEST(Recipe, TextsNeedNoQuotesOnTheCommandLine) {
  Recipe r;
  set_in_recipe(r, "data.source=a b/c=d.txt");
  EXPECT_EQ(r.data.source, "a b/c=d.txt");
  set_in_recipe(r, "data.source=\"quoted\"");
  EXPECT_EQ(r.data.source, "quoted");
  set_in_recipe(r, "train.betas=[0.8, 0.9]");
  EXPECT_EQ(r.train.betas, (std::vector<double>{0.8, 0.9}));
}

TEST(Recipe, NoValueUnsetsWhatMayHaveNone) {
  Recipe recipe;
  set_in_recipe(recipe, "train.steps=5");
  set_in_recipe(recipe, "train.steps=");
  EXPECT_FALSE(recipe.train.steps);
  EXPECT_THROW(set_in_recipe(recipe, "train.lr="), InputError);
}

TEST(Recipe, KeysOfManyPartsAreRefusedBeforeTheyCost) {
  std::string key = "a";
  for (int i = 0; i < 100000; ++i) key += ".a";
  EXPECT_THROW(parse_recipe(key + " = 1", "deep"), InputError);
  EXPECT_THROW(parse_recipe("[" + key + "]", "deep"), InputError);
  EXPECT_NO_THROW(parse_recipe("[data]\nsource = \"../../a.b.c.d\"", "plain"));
}

TEST(Recipe, FileNamesAreUtf8) {
  Recipe recipe;
  recipe.train.steps = 1;
  recipe.data.pairs = "n\xff.tsv";
  EXPECT_THROW(check_recipe(recipe), InputError);
}

TEST(Recipe, UnknownKeysNameTheNearest) {
  expect_contains(parse_error("[model]\nd_modle = 3\n"),
                  "r.toml:2: unknown key \"model.d_modle\"; did you mean \"model.d_model\"?");
  expect_contains(parse_error("[model]\nlr = 3\n"), "r.toml:2: unknown key \"model.lr\"; did you mean \"train.lr\"?");
  expect_contains(parse_error("\nlr = 3\n"), "r.toml:2: unknown key \"lr\"; did you mean \"train.lr\"?");
  expect_contains(parse_error("[modle]\n"), "r.toml:1: unknown section [modle]");
  expect_contains(parse_error("model = 3\n"), "r.toml:1: [model] is a section");
  expect_contains(set_error("train.warmup=3"), "did you mean \"train.warmup_steps\"?");
  expect_contains(set_error("train.lr"), "use --set section.key=value");
}

TEST(Recipe, WrongTypesAndRangesAreNamed) {
  expect_contains(parse_error("[model]\n\nheads = \"8\"\n"), "r.toml:3: model.heads takes a whole number");
  expect_contains(parse_error("[model]\nheads = 8.5\n"), "model.heads takes a whole number");
  expect_contains(parse_error("[model]\nheads = 0\n"), "r.toml:2: model.heads is 0; use a number from 1 to");
  expect_contains(parse_error("[model]\ndropout = 1\n"), "model.dropout is 1; use a number from 0 to 0.999");
  expect_contains(parse_error("[model]\ndropout = nan\n"), "not nan");
  expect_contains(parse_error("[model]\nfinal_norm = 1\n"), "model.final_norm takes true or false");
  expect_contains(parse_error("[model]\nnorm = \"middle\"\n"), "model.norm is \"middle\"; use one of pre, post");
  expect_contains(parse_error("[model]\nnorm = 1\n"), "model.norm takes a text in quotes");
  expect_contains(parse_error("[data]\nsource = 5\n"), "data.source takes a text in quotes");
  expect_contains(parse_error("[train]\nbetas = 0.9\n"), "train.betas takes a list in brackets");
  expect_contains(parse_error("[train]\nbetas = [0.9, 2]\n"), "train.betas is 2; use a number from");
  expect_contains(parse_error("[train\n"), "r.toml:1: not TOML");
  expect_contains(set_error("train.lr=fast"), "--set train.lr=fast: train.lr takes a number");
  expect_contains(set_error("train.betas=[0.9"), "train.betas takes a list in brackets");
  expect_contains(set_error("data.pairs=\"a\\q\""), "not TOML");
}

TEST(Recipe, KeysThatDoNotFitTogetherAreFoundEarly) {
  const std::string s = "data.source=s", t = "data.target=t", n = "train.steps=1";
  EXPECT_EQ(check_error({s, t, n}), "no error");
  expect_contains(check_error({s, t, n, "model.heads=3"}), "model.d_model 256 is not divisible by model.heads 3");
  expect_contains(check_error({s, t}), "say when to stop");
  expect_contains(check_error({n}), "name the training text");
  expect_contains(check_error({s, t, n, "data.pairs=p"}), "name one or the other");
  expect_contains(check_error({s, t, n, "data.valid_source=v"}), "go together");
  expect_contains(check_error({s, t, n, "model.tie_embeddings=all"}), "data.vocab = \"shared\"");
  expect_contains(check_error({s, t, n, "train.betas=[0.9]"}), "two numbers");
  EXPECT_EQ(check_error({s, t, "train.epochs=2", "train.schedule=cosine"}), "no error");
  expect_contains(check_error({s, t, n, "model.attention_scale=big"}), "model.attention_scale is \"big\"");
  expect_contains(check_error({s, t, n, "model.positions=learned", "model.max_positions=50"}),
                  "data.max_length 100 is more than model.max_positions 50");
  expect_contains(check_error({s, t, n, "train.choose=average", "train.average_last=0"}), "train.average_last");
  expect_contains(check_error({s, t, n, "train.batch_tokens=0"}), "train.batch_tokens or train.batch_sentences");
}

TEST(Recipe, PathsAreRelativeToTheFileThatNamesThem) {
  const TemporaryFolder folder;
  write_text(folder / "recipes/r.toml", "[data]\nsource = \"texts/a.txt\"\ntarget = \"/data/b.txt\"\n");
  const Recipe r = read_recipe(folder / "recipes/r.toml");
  EXPECT_EQ(r.data.source, folder / "recipes/texts/a.txt");
  EXPECT_EQ(r.data.target, "/data/b.txt");
  EXPECT_EQ(r.data.csv, "");
  EXPECT_EQ(with_file_names(r).data.source, "a.txt");
  EXPECT_TRUE(
      std::filesystem::path(with_absolute_paths(parse_recipe("[data]\nsource='a'", "r")).data.source).is_absolute());
  expect_contains(message_of([&] { read_recipe(folder / "none.toml"); }), "none.toml: the recipe cannot be opened");
  expect_contains(message_of([&] { read_recipe(folder / "recipes"); }), "cannot be opened");
}

TEST(Recipe, OnlyLimitsAndIntervalsMayChangeInAContinuation) {
  const Recipe a;
  Recipe b = a;
  b.train.steps = 5;
  b.train.log_every = 7;
  b.train.patience = 1;
  EXPECT_EQ(first_difference(a, b), "");
  b.train.lr *= 2;
  EXPECT_EQ(first_difference(a, b), "train.lr");
}

TEST(Recipe, ThoseThatComeWithTheLibraryWork) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GLASSFORMER_SOURCE_DIR "/recipes")) {
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(check_recipe(read_recipe(entry.path().string())));
    ++count;
  }
  EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace glass
