#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/data/text.h"
#include "glassformer/data/unicode.h"
#include "glassformer/decode/bleu.h"
#include "glassformer/decode/chrf.h"
#include "glassformer/decode/search.h"
#include "glassformer/train/task.h"
#include "train/preflight.h"

namespace glass {

namespace {

InvalidUtf8 invalid_policy(const Recipe& r) {
  return r.data.replace_invalid ? InvalidUtf8::replace : InvalidUtf8::error;
}

struct Texts {
  ParallelText train, valid;
};

Texts read_texts(const Recipe& r, Notes& notes) {
  const auto& d = r.data;
  const InvalidUtf8 invalid = invalid_policy(r);
  Texts texts;
  texts.train = d.pairs.empty() ? read_pairs(d.source, d.target, invalid) : read_tsv_pairs(d.pairs, invalid);
  if (!d.valid_pairs.empty()) {
    texts.valid = read_tsv_pairs(d.valid_pairs, invalid);
  } else if (!d.valid_source.empty()) {
    texts.valid = read_pairs(d.valid_source, d.valid_target, invalid);
  } else {
    SplitText split = split_by_distinct_sentence(texts.train, d.valid_fraction, static_cast<uint64_t>(r.train.seed));
    notes.push_back(fmt::format("held out {} pairs for validation; {} that share a sentence with them are left out",
                                split.valid.size(), split.left_out));
    texts = {std::move(split.train), std::move(split.valid)};
  }
  if (texts.valid.size() == 0)
    throw InputError("validation: no pairs; raise data.valid_fraction or name data.valid_pairs");
  return texts;
}

// Repeated pairs weigh more than others; validation sentences that training has seen make its scores too good.
void note_repetitions(const Texts& texts, Notes& notes) {
  std::unordered_set<std::string> pairs;
  std::unordered_set<std::string_view> sources;
  for (size_t i = 0; i < texts.train.size(); ++i) {
    pairs.insert(texts.train.source[i] + '\n' + texts.train.target[i]);
    sources.insert(texts.train.source[i]);
  }
  const size_t repeated = texts.train.size() - pairs.size();
  if (repeated > 0) notes.push_back(fmt::format("training: {} pairs are repetitions of others", repeated));
  const auto seen = std::count_if(texts.valid.source.begin(), texts.valid.source.end(),
                                  [&](const std::string& line) { return sources.count(line) > 0; });
  if (seen > 0) {
    notes.push_back(
        fmt::format("validation: {} of {} source lines are also in training, so its scores flatter the model", seen,
                    texts.valid.size()));
  }
}

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;
};

Vocabularies train_vocabularies(const Recipe& r, const ParallelText& text) {
  const auto& d = r.data;
  VocabularyOptions options{d.vocab_model, static_cast<int32_t>(d.vocab_size), static_cast<int32_t>(d.min_frequency),
                            d.character_coverage};
  options.lowercase = d.lowercase;
  options.fewer_allowed = d.vocab_fewer;
  options.normalization = d.normalization;
  if (d.vocab == "separate") return {train_vocabulary(text.source, options), train_vocabulary(text.target, options)};
  std::vector<std::string> both = text.source;
  both.insert(both.end(), text.target.begin(), text.target.end());
  const auto shared = train_vocabulary(both, options);
  return {shared, shared};
}

void note_lengths(const Recipe& r, const ExampleSet& set, const char* what, Notes& notes) {
  const char* done = r.data.long_lines == "skip" ? "skipped" : "cut";
  if (set.too_long > 0) {
    notes.push_back(
        fmt::format("{}: {} pairs longer than {} tokens were {}", what, set.too_long, r.data.max_length, done));
  }
  if (set.empty > 0) notes.push_back(fmt::format("{}: {} pairs with an empty side were skipped", what, set.empty));
  if (set.examples.empty()) {
    throw InputError(fmt::format("{}: no pair is left; {} are longer than data.max_length {}, {} have an empty side",
                                 what, set.too_long, r.data.max_length, set.empty));
  }
}

class TranslationTask : public TrainingTask {
 public:
  TranslationTask(const Recipe& recipe, const SafeTensors* resumed) : recipe_(recipe) {
    Texts texts = read_texts(recipe_, notes_);
    note_repetitions(texts, notes_);
    if (resumed != nullptr) {
      SavedTranslation saved = translation_from(*resumed, "checkpoint");
      vocabularies_ = {saved.source, saved.target};
      model_ = std::move(saved.model);
    } else {
      vocabularies_ = train_vocabularies(recipe_, texts.train);
      TransformerConfig config = recipe_.model_config();
      config.source_vocabulary = vocabularies_.source->size();
      config.target_vocabulary = vocabularies_.target->size();
      model_ = std::make_unique<TranslationModel>(config);
    }
    for (size_t i = 0; i < texts.train.size(); ++i) {
      fingerprint_ = hash_combine(fingerprint_, hash_text(texts.train.source[i]));
      fingerprint_ = hash_combine(fingerprint_, hash_text(texts.train.target[i]));
    }
    train_ = examples(texts.train, "training");
    valid_ = examples(texts.valid, "validation");
    valid_text_ = std::move(texts.valid);
    notes_.push_back(fmt::format("{} training pairs, {} validation pairs, vocabularies of {} and {} tokens",
                                 train_.size(), valid_.size(), vocabularies_.source->size(),
                                 vocabularies_.target->size()));
  }

  Module& module() override { return *model_; }
  const Notes& notes() const override { return notes_; }

  int64_t begin_epoch(int64_t epoch) override {
    plan_ = plan_epoch(train_, recipe_.batch_limits(), static_cast<uint64_t>(recipe_.train.seed), epoch);
    return static_cast<int64_t>(plan_.size());
  }

  LossSum loss(int64_t batch) override { return loss_of(make_batch(train_, plan_[static_cast<size_t>(batch)])); }

  ValidationScore validate() override {
    const NoGrad values_only;
    ValidationScore score;
    int64_t terms = 0;
    for (const auto& rows :
         plan_by_length(valid_, {recipe_.train.batch_tokens > 0 ? recipe_.train.batch_tokens : 4096, 0})) {
      const LossSum sum = loss_of(make_batch(valid_, rows));
      score.nll += sum.nll;
      terms += sum.terms;
    }
    score.nll /= static_cast<double>(terms);
    if (recipe_.train.validate_sentences > 0) decode_validation(score);
    return score;
  }

  std::string describe(int64_t batch) const override {
    const auto& rows = plan_[static_cast<size_t>(batch)];
    std::string text = fmt::format("{} pairs, lines", rows.size());
    const size_t shown = std::min<size_t>(rows.size(), 5);
    for (size_t i = 0; i < shown; ++i) text += fmt::format(" {}", train_[static_cast<size_t>(rows[i])].line);
    const Example& first = train_[static_cast<size_t>(rows[0])];
    return text + fmt::format("{}; the first is \"{}\" -> \"{}\"", rows.size() > shown ? " …" : "",
                              vocabularies_.source->decode(first.source), vocabularies_.target->decode(first.target));
  }

  int64_t largest_batch() const override {
    auto size = [&](const std::vector<int64_t>& rows) {
      size_t source = 0, target = 0;
      for (const int64_t row : rows) {
        source = std::max(source, train_[static_cast<size_t>(row)].source.size());
        target = std::max(target, train_[static_cast<size_t>(row)].target.size());
      }
      return (source + 2 * target) * rows.size();  // a target token passes through more, and has logits
    };
    const auto largest =
        std::max_element(plan_.begin(), plan_.end(), [&](const auto& a, const auto& b) { return size(a) < size(b); });
    return largest - plan_.begin();
  }

  void check_leaks() override { check_translation_leaks(*model_, make_batch(train_, plan_[0])); }

  FirstLoss first_loss() override {
    const NoGrad values_only;
    const TranslationBatch batch = make_batch(train_, plan_[0]);
    const Tensor logits = (*model_)(batch.source, batch.source_lengths, batch.target_input);  // [B,T,V]
    return explain_first_loss(logits, batch.target_output, pad_token);
  }

  uint64_t data_fingerprint() const override { return fingerprint_; }

  SafeTensors contents(const ModelInfo& info) const override {
    return translation_contents(*model_, *vocabularies_.source, *vocabularies_.target, info);
  }

 private:
  std::vector<Example> examples(const ParallelText& text, const char* what) {
    const LongLines policy = recipe_.data.long_lines == "cut" ? LongLines::cut : LongLines::skip;
    ExampleSet set = make_examples(text.source, text.target, *vocabularies_.source, *vocabularies_.target,
                                   recipe_.data.max_length, policy);
    note_lengths(recipe_, set, what, notes_);
    return std::move(set.examples);
  }

  LossSum loss_of(const TranslationBatch& batch) const {
    LossSum sum;
    const CrossEntropyOptions options{grad_enabled() ? recipe_.train.label_smoothing : 0, pad_token};
    const Tensor labels = pack(batch.target_output, batch.target_lengths).ids;
    sum.loss = model_->loss_sum(pack(batch.source, batch.source_lengths),
                                pack(batch.target_input, batch.target_lengths), labels, options, &sum.nll);
    sum.terms = batch.target_tokens;
    sum.real_tokens = batch.real_tokens;
    sum.examples = batch.source.size(0);
    return sum;
  }

  void decode_validation(ValidationScore& score) const {
    const size_t count = std::min(valid_text_.size(), static_cast<size_t>(recipe_.train.validate_sentences));
    std::vector<std::string> hypotheses(count),
        references(valid_text_.target.begin(), valid_text_.target.begin() + static_cast<std::ptrdiff_t>(count));
    SearchOptions options;
    options.beam = static_cast<int>(recipe_.train.validate_beam);
    std::vector<Example> chosen;
    for (const Example& example : valid_) {
      if (example.line <= static_cast<int64_t>(count)) chosen.push_back(example);
    }
    for (const auto& rows : plan_by_length(chosen, {4096 / options.beam, 0})) {
      const TranslationBatch batch = make_batch(chosen, rows);
      const auto results = search(*model_, batch.source, batch.source_lengths, options);
      for (size_t i = 0; i < results.size(); ++i) {
        hypotheses[static_cast<size_t>(batch.lines[i]) - 1] = vocabularies_.target->decode(results[i][0].tokens);
      }
    }
    BleuOptions bleu_options;
    bleu_options.tokenizer = bleu_tokenizer_from_name(recipe_.train.validate_tokenize);
    bleu_options.lowercase = recipe_.data.lowercase;
    ChrfOptions chrf_options;
    chrf_options.lowercase = recipe_.data.lowercase;
    score.bleu = bleu(hypotheses, {references}, bleu_options).score;
    score.chrf = chrf(hypotheses, {references}, chrf_options);
  }

  Recipe recipe_;
  Notes notes_;
  Vocabularies vocabularies_;
  std::unique_ptr<TranslationModel> model_;
  std::vector<Example> train_, valid_;
  ParallelText valid_text_;
  uint64_t fingerprint_ = 0;
  std::vector<std::vector<int64_t>> plan_;
};

}  // namespace

std::unique_ptr<TrainingTask> make_translation_task(const Recipe& recipe, const SafeTensors* resumed) {
  return std::make_unique<TranslationTask>(recipe, resumed);
}

std::unique_ptr<TrainingTask> make_task(const Recipe& recipe, const SafeTensors* resumed) {
  return recipe.model.task == "forecast" ? make_forecast_task(recipe, resumed) : make_translation_task(recipe, resumed);
}

bool ValidationScore::is_better_than(const ValidationScore& other, const std::string& best_by) const {
  if (best_by == "bleu") return bleu.value_or(0) > other.bleu.value_or(-1);
  return nll < other.nll || (std::isnan(other.nll) && !std::isnan(nll));
}

}  // namespace glass
