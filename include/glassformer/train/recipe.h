// A recipe: everything that a training run depends on, in TOML. Each key has a default, a type, a range and a sentence
// of explanation in one table (recipe_keys()), which reading, --set, writing and the help text all use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "glassformer/data/batches.h"
#include "glassformer/models/config.h"

namespace glass {

struct Recipe {
  struct Model {
    std::string task = "translate";
    int64_t d_model = 256, heads = 8, d_ff = 0, layers = 3;
    std::optional<int64_t> encoder_layers, decoder_layers;
    double dropout = 0.1;
    std::optional<double> dropout_embedding, dropout_attention, dropout_feed_forward, dropout_residual;
    std::string norm = "pre";
    std::optional<bool> final_norm;
    std::string init = "xavier", init_embedding = "normal", attention_scale = "1/sqrt(k)", activation = "relu";
    std::string positions = "sinusoidal";
    int64_t max_positions = 1024;
    std::string tie_embeddings = "output";
  } model;
  struct Data {
    std::string source, target, pairs, valid_source, valid_target, valid_pairs;
    double valid_fraction = 0.02;
    bool lowercase = false, replace_invalid = false, vocab_fewer = false;
    std::string vocab = "separate", vocab_model = "unigram", normalization = "nmt_nfkc";
    int64_t vocab_size = 8000, min_frequency = 2;
    double character_coverage = 0.9995;
    int64_t max_length = 100;
    std::string long_lines = "skip";
    std::string csv, series = "sine_random";
    std::vector<std::string> columns;
    int64_t history = 10, horizon = 5, windows = 2000;
    double noise = 0.05;
  } data;
  struct Train {
    std::optional<int64_t> steps, epochs;
    std::optional<double> minutes;
    int64_t batch_tokens = 4096;
    std::optional<int64_t> batch_sentences;
    int64_t accumulate = 1;
    std::string optimizer = "adamw";
    double lr = 1e-3, min_lr = 0;
    std::vector<double> betas{0.9, 0.98};
    double epsilon = 1e-8, weight_decay = 0.01;
    std::string schedule = "inverse_sqrt";
    int64_t warmup_steps = 1000;
    double clip_norm = 1, label_smoothing = 0.1;
    int64_t checkpoint_every = 500, log_every = 50, validate_every = 500;
    int64_t validate_sentences = 500, validate_beam = 1;
    std::string validate_tokenize = "13a", best_by = "nll", choose = "best";
    int64_t average_last = 5, patience = 10;
    std::string precision = "auto";
    int64_t seed = 1;
  } train;

  TransformerConfig model_config() const;  // vocabularies left at 0
  BatchLimits batch_limits() const;
};

// One key of the table.
struct RecipeKey {
  using Slot = std::variant<int64_t*, double*, bool*, std::string*, std::vector<double>*, std::vector<std::string>*,
                            std::optional<int64_t>*, std::optional<double>*, std::optional<bool>*>;
  const char* section;
  const char* name;
  std::function<Slot(Recipe&)> slot;
  const char* help;
  double low = 0, high = 0;          // numbers, inclusive; equal for no limit
  std::vector<std::string> choices;  // texts; empty for any
  bool resumable = false;            // may differ between a run and its continuation
  bool is_path = false;              // of a file
  bool number_allowed = false;       // a text that may be given as a number

  std::string path() const { return std::string(section) + "." + name; }
};
const std::vector<RecipeKey>& recipe_keys();

// Relative paths in a recipe file are relative to the folder of that file; those given by set_in_recipe() or in code,
// to the working directory. Unknown keys (with the nearest known one), wrong types and values out of range are
// InputErrors with file and line.
Recipe read_recipe(const std::string& path);
Recipe parse_recipe(const std::string& toml, const std::string& name);
// "section.key=value", the value as in TOML; a text needs no quotes. No value unsets a key that may have none.
void set_in_recipe(Recipe& recipe, const std::string& assignment);
// Every key with its value; keys that have none stand as comments. Reading it gives the same recipe.
std::string recipe_text(const Recipe& recipe);
// A copy whose paths no longer depend on the working directory: what a run keeps, to go on from anywhere.
Recipe with_absolute_paths(Recipe recipe);
// A copy with the files' names alone: what a model keeps, to be passed on.
Recipe with_file_names(Recipe recipe);
// What no single key shows: sizes that do not divide, data named twice or not at all.
void check_recipe(const Recipe& recipe);
// The first key in which they differ and that must not change when a run goes on; empty if there is none.
std::string first_difference(const Recipe& a, const Recipe& b);

}  // namespace glass
