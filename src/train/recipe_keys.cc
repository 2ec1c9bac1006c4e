// The table of recipe keys.
#include "glassformer/train/recipe.h"

namespace glass {

namespace {

// The slot of one member.
template <class Section, class Member>
std::function<RecipeKey::Slot(Recipe&)> slot(Section Recipe::*section, Member Section::*member) {
  return [section, member](Recipe& recipe) { return RecipeKey::Slot(&(recipe.*section.*member)); };
}

using M = Recipe::Model;
using D = Recipe::Data;
using T = Recipe::Train;

template <class Member>
RecipeKey model(const char* name, Member M::*member, const char* help, double low = 0, double high = 0,
                std::vector<std::string> choices = {}) {
  return {"model", name, slot(&Recipe::model, member), help, low, high, std::move(choices)};
}
template <class Member>
RecipeKey data(const char* name, Member D::*member, const char* help, double low = 0, double high = 0,
               std::vector<std::string> choices = {}) {
  return {"data", name, slot(&Recipe::data, member), help, low, high, std::move(choices)};
}
template <class Member>
RecipeKey train(const char* name, Member T::*member, const char* help, double low = 0, double high = 0,
                std::vector<std::string> choices = {}, bool resumable = false) {
  return {"train", name, slot(&Recipe::train, member), help, low, high, std::move(choices), resumable};
}

RecipeKey path(RecipeKey key) {
  key.is_path = true;
  return key;
}
RecipeKey or_number(RecipeKey key) {
  key.number_allowed = true;
  return key;
}

constexpr double many = 1e9;
constexpr double nearly_one = 0.999;

std::vector<RecipeKey> model_keys() {
  return {
      model("task", &M::task, "what the model is for", 0, 0, {"translate", "forecast"}),
      model("d_model", &M::d_model, "width D of the hidden states; divisible by heads", 1, many),
      model("heads", &M::heads, "attention heads H, each of width D/H", 1, many),
      model("d_ff", &M::d_ff, "width F inside the feed-forward; 0 for 4 x d_model", 0, many),
      model("layers", &M::layers, "layers of encoder and decoder each", 1, 1000),
      model("encoder_layers", &M::encoder_layers, "if it differs from layers", 1, 1000),
      model("decoder_layers", &M::decoder_layers, "if it differs from layers", 1, 1000),
      model("dropout", &M::dropout, "rate at each of the four places below", 0, nearly_one),
      model("dropout_embedding", &M::dropout_embedding, "on embedding + position", 0, nearly_one),
      model("dropout_attention", &M::dropout_attention, "on attention weights", 0, nearly_one),
      model("dropout_feed_forward", &M::dropout_feed_forward, "inside the feed-forward", 0, nearly_one),
      model("dropout_residual", &M::dropout_residual, "on each sub-layer's output", 0, nearly_one),
      model("norm", &M::norm, "pre: x + f(LN(x)); post: LN(x + f(x))", 0, 0, {"pre", "post"}),
      model("final_norm", &M::final_norm, "one more norm after each stack; by default for pre only"),
      model("init", &M::init, "of matrices", 0, 0, {"xavier", "kaiming"}),
      model("init_embedding", &M::init_embedding, "of embeddings: normal of deviation 1/sqrt(d_model), or as matrices",
            0, 0, {"normal", "matrix"}),
      or_number(model("attention_scale", &M::attention_scale, "\"1/sqrt(k)\", \"none\" or a number")),
      model("activation", &M::activation, "inside the feed-forward", 0, 0, {"relu", "gelu"}),
      model("positions", &M::positions, "how order is told", 0, 0, {"sinusoidal", "learned"}),
      model("max_positions", &M::max_positions, "longest input of learned positions", 1, many),
      model("tie_embeddings", &M::tie_embeddings, "output = target embedding; all = source too (shared vocabulary)", 0,
            0, {"none", "output", "all"}),
  };
}

std::vector<RecipeKey> data_keys() {
  return {
      path(data("source", &D::source, "text to translate from, one sentence a line, plain or .gz")),
      path(data("target", &D::target, "its translations, line by line")),
      path(data("pairs", &D::pairs, "instead: lines of source TAB target")),
      path(data("valid_source", &D::valid_source, "validation text")),
      path(data("valid_target", &D::valid_target, "its translations")),
      path(data("valid_pairs", &D::valid_pairs, "instead: lines of source TAB target")),
      data("valid_fraction", &D::valid_fraction, "held out, by distinct sentence, if no validation text is named",
           0.0001, 0.5),
      data("lowercase", &D::lowercase, "fold letters to lower case before anything else"),
      data("replace_invalid", &D::replace_invalid, "put U+FFFD where text is not UTF-8 instead of stopping"),
      data("vocab", &D::vocab, "one vocabulary for both sides, or one each", 0, 0, {"shared", "separate"}),
      data("vocab_model", &D::vocab_model, "kind of tokens", 0, 0, {"unigram", "bpe", "word", "char"}),
      data("normalization", &D::normalization, "of subwords, by SentencePiece's names", 0, 0,
           {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"}),
      data("vocab_size", &D::vocab_size, "tokens, special ones included", 5, 1 << 24),
      data("vocab_fewer", &D::vocab_fewer, "take what the text allows where it allows fewer subwords"),
      data("min_frequency", &D::min_frequency, "a rarer word or character is unknown", 1, many),
      data("character_coverage", &D::character_coverage, "share of characters that subwords cover", 0.98, 1),
      data("max_length", &D::max_length, "longest side in tokens", 2, many),
      data("long_lines", &D::long_lines, "what to do with longer ones", 0, 0, {"skip", "cut"}),
      path(data("csv", &D::csv, "numbers to forecast; without it, the sine task")),
      data("columns", &D::columns, "columns of the CSV to use; none for all numeric ones"),
      data("series", &D::series, "which sine: random phase and frequency, or the tutorial's fixed one", 0, 0,
           {"sine_random", "sine_tutorial"}),
      data("history", &D::history, "values in", 1, many),
      data("horizon", &D::horizon, "values out", 1, many),
      data("windows", &D::windows, "training windows of the sine task", 1, many),
      data("noise", &D::noise, "deviation of the sine task's noise", 0, 10),
  };
}

std::vector<RecipeKey> train_keys() {
  return {
      train("steps", &T::steps, "stop after so many updates", 0, many, {}, true),
      train("epochs", &T::epochs, "or after so many passes over the data", 0, many, {}, true),
      train("minutes", &T::minutes,
            "or after so much time spent on updates; a rate that falls with it depends on the machine", 0, many, {},
            true),
      train("batch_tokens", &T::batch_tokens, "sentences x longest side of a batch; 0 for no limit", 0, many),
      train("batch_sentences", &T::batch_sentences, "instead: sentences of a batch", 1, many),
      train("accumulate", &T::accumulate, "batches of one update", 1, 10000),
      train("optimizer", &T::optimizer, "Adam with decoupled weight decay", 0, 0, {"adamw"}),
      train("lr", &T::lr, "highest learning rate", 0, 1000),
      train("min_lr", &T::min_lr, "where cosine and linear end, with the run", 0, 1000),
      train("betas", &T::betas, "decay of AdamW's two moments", 0, 0.999999),
      train("epsilon", &T::epsilon, "AdamW's", 1e-20, 1),
      train("weight_decay", &T::weight_decay, "AdamW's, on all parameters", 0, 10),
      train("schedule", &T::schedule, "of the learning rate after warm-up", 0, 0,
            {"constant", "inverse_sqrt", "linear", "cosine"}),
      train("warmup_steps", &T::warmup_steps, "linear rise before it", 0, many),
      train("clip_norm", &T::clip_norm, "largest global norm of the gradient; 0 for none", 0, many),
      train("label_smoothing", &T::label_smoothing, "epsilon, spread over all classes", 0, nearly_one),
      train("checkpoint_every", &T::checkpoint_every, "updates", 1, many, {}, true),
      train("log_every", &T::log_every, "updates", 1, many, {}, true),
      train("validate_every", &T::validate_every, "updates", 1, many),
      train("validate_sentences", &T::validate_sentences, "decoded for BLEU and chrF at each validation; 0 for none", 0,
            many, {}, true),
      train("validate_beam", &T::validate_beam, "beam of that decoding", 1, 1000, {}, true),
      train("validate_tokenize", &T::validate_tokenize, "BLEU's tokenizer there", 0, 0,
            {"13a", "zh", "char", "intl", "none"}),
      train("best_by", &T::best_by, "what makes a checkpoint the best", 0, 0, {"nll", "bleu"}),
      train("choose", &T::choose,
            "the model that the run leaves; best: the best checkpoint, or the average if that is better", 0, 0,
            {"best", "average", "last"}, true),
      train("average_last", &T::average_last, "weights of so many validations are averaged in the end; 0 for none", 0,
            100),
      train("patience", &T::patience, "validations without a new best before stopping; 0 for never", 0, many, {}, true),
      train("precision", &T::precision,
            "of products with weights in training; auto is bf16 where the CPU multiplies it", 0, 0,
            {"auto", "f32", "bf16"}),
      train("seed", &T::seed, "of weights, order and dropout", 0, 9e15),
  };
}

}  // namespace

const std::vector<RecipeKey>& recipe_keys() {
  static const std::vector<RecipeKey> keys = [] {
    std::vector<RecipeKey> all = model_keys();
    for (auto* more : {&data_keys, &train_keys}) {
      for (RecipeKey& key : (*more)()) all.push_back(std::move(key));
    }
    return all;
  }();
  return keys;
}

}  // namespace glass
