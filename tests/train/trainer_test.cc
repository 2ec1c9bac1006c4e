#include "glassformer/train/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "glassformer/base/error.h"
#include "glassformer/base/threads.h"
#include "glassformer/decode/saved_model.h"
#include "train/training_runs.h"

namespace glass {
namespace {

using test::Recorder;
using test::run;
using test::small_forecast;
using test::small_translation;
using test::TemporaryFolder;
using test::weights;

// ‖a − b‖/‖a‖ over all tensors.
double relative_difference(const std::map<std::string, std::vector<double>>& a,
                           const std::map<std::string, std::vector<double>>& b) {
  double difference = 0, norm = 0;
  for (const auto& [name, values] : a) {
    for (size_t i = 0; i < values.size(); ++i) {
      difference += (values[i] - b.at(name)[i]) * (values[i] - b.at(name)[i]);
      norm += values[i] * values[i];
    }
  }
  return std::sqrt(difference / norm);
}

TEST(Trainer, AccumulationEqualsTheLargeBatch) {
  const TemporaryFolder folder;
  Recipe large = small_translation(folder);
  test::write_text(folder / "train.tsv", test::reversal_pairs(48, 6, 5, 3));
  large.model.dropout = 0;  // its draws are by place in the step, and the batches' order differs
  large.train.steps = 3;    // each is the whole text, in both runs
  large.train.batch_sentences = 48;
  large.train.precision = "f32";
  Recipe small = large;
  small.train.batch_sentences = 8;  // of different lengths, so of different numbers of tokens
  small.train.accumulate = 6;
  Recorder a, b;
  train(large, {folder / "large"}, a);
  train(small, {folder / "small"}, b);
  // The same sum in another order: float32 rounds each term to 6e-8; AdamW divides small gradients by their own size.
  EXPECT_LT(
      relative_difference(weights(folder / "large/model.safetensors"), weights(folder / "small/model.safetensors")),
      2e-5);
  EXPECT_NEAR(*a.metrics[2].loss, *b.metrics[2].loss, 1e-4);
  EXPECT_NEAR(*a.metrics[0].grad_norm / *b.metrics[0].grad_norm, 1, 1e-4);
}

TEST(Trainer, AnyNumberOfThreadsGivesTheSameBits) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.model.d_model = 64;  // wide enough for work to be split
  recipe.model.heads = 4;
  recipe.train.batch_sentences = 100;
  recipe.train.steps = 3;
  const int before = threads();
  std::vector<std::map<std::string, std::vector<double>>> ends;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    run(recipe, folder / std::to_string(count));
    ends.push_back(weights(folder / (std::to_string(count) + "/checkpoint.safetensors")));
  }
  set_threads(before);
  EXPECT_EQ(test::differing(ends[0], ends[1]), "");
  EXPECT_EQ(test::differing(ends[0], ends[2]), "");
}

TEST(Trainer, Bf16IsObeyedAndStaysCloseToFloat32) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 4;
  Recorder exact, rounded;
  recipe.train.precision = "f32";
  train(recipe, {folder / "f32"}, exact);
  recipe.train.precision = "bf16";
  train(recipe, {folder / "bf16"}, rounded);
  EXPECT_NE(rounded.notes.find("bf16"), std::string::npos) << rounded.notes;
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(*rounded.metrics[i].loss / *exact.metrics[i].loss, 1, 5e-3) << i;
  EXPECT_NE(test::differing(weights(folder / "f32/model.safetensors"), weights(folder / "bf16/model.safetensors")), "");
}

TEST(Trainer, SeedsAndDropoutMatter) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 2;
  run(recipe, folder / "a");
  run(recipe, folder / "b");
  EXPECT_EQ(test::differing(weights(folder / "a/model.safetensors"), weights(folder / "b/model.safetensors")), "");
  recipe.model.dropout = 0;
  run(recipe, folder / "c");
  recipe.train.seed = 2;
  run(recipe, folder / "d");
  EXPECT_NE(test::differing(weights(folder / "a/model.safetensors"), weights(folder / "c/model.safetensors")), "");
  EXPECT_NE(test::differing(weights(folder / "c/model.safetensors"), weights(folder / "d/model.safetensors")), "");
}

TEST(Trainer, ClippingBoundsTheStepAndMetricsSayTheNormBefore) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 1;
  recipe.train.clip_norm = 1e-3;
  Recorder recorder;
  train(recipe, {folder / "run"}, recorder);
  EXPECT_GT(*recorder.metrics[0].grad_norm, 0.1);
  // After one step the first moment is (1 − β₁)·g, so its norm is that of the clipped gradient times 0.1.
  double square = 0;
  const auto checkpoint = weights(folder / "run/checkpoint.safetensors");
  for (const double m : checkpoint.at("optimizer.first_moment")) square += m * m;
  EXPECT_NEAR(std::sqrt(square), 1e-4, 1e-8);
}

// ‖b − a‖/‖a‖ over the parameters whose names begin with `part`.
double change_of(const std::map<std::string, std::vector<double>>& a,
                 const std::map<std::string, std::vector<double>>& b, const std::string& part) {
  std::map<std::string, std::vector<double>> of_part;
  for (const auto& [name, values] : a) {
    if (name.starts_with(part)) of_part[name] = values;
  }
  return relative_difference(of_part, b);
}

TEST(Trainer, MetricsSayWhatAnUpdateDidToEachPart) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.log_every = 2;
  recipe.train.steps = 1;
  run(recipe, folder / "one");
  recipe.train.steps = 2;
  Recorder recorder;
  train(recipe, {folder / "two"}, recorder);
  const auto before = weights(folder / "one/checkpoint.safetensors"),
             after = weights(folder / "two/checkpoint.safetensors");
  const StepMetrics& second = recorder.metrics[0];
  ASSERT_EQ(second.step, 2);
  double squares = 0;
  std::set<std::string> seen;
  for (const PartMetrics& part : second.parts) {
    squares += part.grad_norm * part.grad_norm;
    EXPECT_TRUE(seen.insert(part.part).second) << part.part;
    // The files hold the same float32 numbers; sums of squares are in double.
    EXPECT_NEAR(part.update_ratio, change_of(before, after, part.part + "."), 1e-9) << part.part;
  }
  EXPECT_TRUE(seen.contains("encoder.layers.0") && seen.contains("decoder.layers.0")) << seen.size();
  EXPECT_NEAR(std::sqrt(squares) / *second.grad_norm, 1, 1e-9);
}

TEST(Trainer, MetricsAreOneObjectALineWithTheStepFirst) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 4;
  recipe.train.validate_every = 2;
  recipe.train.label_smoothing = 0.1;
  Recorder recorder;
  train(recipe, {folder / "run"}, recorder);
  std::istringstream lines(test::read_text(folder / "run/metrics.jsonl"));
  std::vector<nlohmann::ordered_json> objects;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.rfind("{\"step\":", 0), 0u) << line;
    objects.push_back(nlohmann::ordered_json::parse(line));
  }
  ASSERT_EQ(objects.size(), 6u);  // four updates, two validations
  for (const char* key : {"loss", "nll", "lr", "grad_norm", "tokens_per_second"})
    EXPECT_TRUE(objects[0].contains(key)) << key;
  for (const char* key : {"valid_nll", "valid_ppl", "valid_bleu", "valid_chrf"})
    EXPECT_TRUE(objects[2].contains(key)) << key;
  EXPECT_NE(objects[0]["loss"], objects[0]["nll"]);  // smoothed, and not
  EXPECT_NEAR(std::log(objects[2]["valid_ppl"].get<double>()), objects[2]["valid_nll"].get<double>(), 1e-9);
  EXPECT_EQ(recorder.metrics.size(), objects.size());
}

TEST(Trainer, SaysWhatItFoundBeforeTheFirstUpdate) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  std::string text = test::read_text(folder / "train.tsv");
  text += "a b\tb a\na b\tb a\n\t\na b c d e a b c d e\te d c b a e d c b a\n";
  test::write_text(folder / "train.tsv", text);
  recipe.data.max_length = 9;
  recipe.train.steps = 1;
  Recorder recorder;
  train(recipe, {folder / "run"}, recorder);
  for (const char* part :
       {"training: 1 pairs longer than 9 tokens were skipped", "training: 1 pairs with an empty side",
        "are repetitions of others", "leak check: no output depends on later targets", "first loss",
        "the largest batch takes", "parameters", "source lines are also in training"}) {
    EXPECT_NE(recorder.notes.find(part), std::string::npos) << part << " is not in\n" << recorder.notes;
  }
  EXPECT_EQ(recorder.warnings, "");
}

TEST(Trainer, StopsWhenPatienceIsOverAndLeavesTheBest) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.lr = 0.3;  // far too high: no validation is better than the first
  recipe.train.warmup_steps = 0;
  recipe.train.schedule = "constant";
  recipe.train.steps = 200;
  recipe.train.validate_every = 2;
  recipe.train.validate_sentences = 0;
  recipe.train.patience = 3;
  Recorder recorder;
  const TrainResult result = train(recipe, {folder / "run"}, recorder);
  EXPECT_EQ(result.reason, StopReason::patience);
  EXPECT_LT(result.step, 200);
  int64_t best_step = 0;
  double best = 1e9;
  for (const StepMetrics& m : recorder.metrics) {
    if (m.valid_nll && *m.valid_nll < best) {
      best = *m.valid_nll;
      best_step = m.step;
    }
  }
  EXPECT_EQ(result.step, best_step + 2 * 3);
  EXPECT_EQ(load_translation(result.model_path).info.at("step"), std::to_string(best_step));
  EXPECT_EQ(test::differing(weights(result.model_path), weights(folder / "run/best.safetensors")), "");
}

TEST(Trainer, AveragesTheLastValidatedWeights) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 8;
  recipe.train.validate_every = 2;
  recipe.train.average_last = 3;
  recipe.train.choose = "average";
  run(recipe, folder / "run");
  const auto a = weights(folder / "run/average/step-4.safetensors"),
             b = weights(folder / "run/average/step-6.safetensors"),
             c = weights(folder / "run/average/step-8.safetensors");
  for (const auto& [name, values] : weights(folder / "run/model.safetensors")) {
    for (size_t i = 0; i < values.size(); ++i) {
      // Three products and two sums of float32, each rounded to 6e-8 of numbers around 1.
      EXPECT_NEAR(values[i], (a.at(name)[i] + b.at(name)[i] + c.at(name)[i]) / 3, 1e-6) << name;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "run/average/step-2.safetensors"));
}

TEST(Trainer, TheModelIsTheBetterOfBestAndAverage) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 60;
  recipe.train.validate_every = 10;
  recipe.train.average_last = 2;
  recipe.train.lr = 0.1;  // jumps about, so that averaging helps
  recipe.train.schedule = "constant";
  recipe.train.validate_sentences = 0;
  Recorder recorder;
  const TrainResult result = train(recipe, {folder / "run"}, recorder);
  ASSERT_NE(recorder.notes.find("the average of the last 2 has a validation loss of"), std::string::npos)
      << recorder.notes;
  const bool is_best = weights(result.model_path) == weights(folder / "run/best.safetensors");
  EXPECT_EQ(is_best, result.model_choice.find("average") == std::string::npos) << result.model_choice;
}

TEST(Trainer, MinutesCountUpdatesOnly) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.minutes = 1e-9;  // 60 ns: less than one update takes on any machine
  const TrainResult result = run(recipe, folder / "run");
  EXPECT_EQ(result.step, 1);
  EXPECT_GE(result.training_seconds, 60e-9);
}

TEST(Trainer, AFallingRateEndsWithTheFirstLimit) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.schedule = "linear";
  recipe.train.lr = 1e-3;
  recipe.train.warmup_steps = 1;
  recipe.train.log_every = 1;
  recipe.train.validate_every = 1000;
  const auto rates = [&](const char* name) {
    Recorder recorder;
    train(recipe, {folder / name}, recorder);
    std::vector<double> all;
    for (const StepMetrics& m : recorder.metrics) {
      if (m.lr) all.push_back(*m.lr);
    }
    return all;
  };
  recipe.train.steps = 5;
  recipe.train.minutes = 1e6;  // that is after the steps
  EXPECT_EQ(rates("steps"), (std::vector<double>{1e-3, 7.5e-4, 5e-4, 2.5e-4, 0}));

  recipe.train.minutes.reset();
  recipe.train.epochs = 2;
  recipe.train.steps = 1000;  // after the epochs
  recipe.train.accumulate = 3;
  for (const bool by_tokens : {false, true}) {  // batches by tokens: more in one epoch than in the other
    if (by_tokens) {
      recipe.train.batch_sentences.reset();
      recipe.train.batch_tokens = 90;
    }
    const std::vector<double> rates_of_epochs = rates(by_tokens ? "tokens" : "sentences");
    ASSERT_GE(rates_of_epochs.size(), 3U);
    EXPECT_TRUE(std::is_sorted(rates_of_epochs.rbegin(), rates_of_epochs.rend()));
    EXPECT_EQ(rates_of_epochs.back(), 0);
    EXPECT_GT(rates_of_epochs[rates_of_epochs.size() - 2], 0);
  }

  recipe.train.epochs.reset();
  recipe.train.steps.reset();
  recipe.train.minutes = 1e-9;  // over before the second update, if there were one
  EXPECT_EQ(rates("minutes"), (std::vector<double>{1e-3}));
}

TEST(Trainer, HeldOutPairsShareNothingWithTraining) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.data.valid_pairs = "";
  recipe.data.valid_fraction = 0.1;
  recipe.train.steps = 1;
  Recorder recorder;
  train(recipe, {folder / "run"}, recorder);
  EXPECT_NE(recorder.notes.find("held out"), std::string::npos);
  EXPECT_EQ(recorder.notes.find("also in training"), std::string::npos) << recorder.notes;
}

TEST(Trainer, ForecastsBesideNaiveBaselines) {
  const TemporaryFolder folder;
  Recipe recipe = small_forecast();
  std::string csv = "time,value,other\n";
  for (int i = 0; i < 120; ++i)
    csv += std::to_string(i) + "," + std::to_string(std::sin(i * 0.7)) + "," + std::to_string(i % 5) + "\n";
  test::write_text(folder / "series.csv", csv);
  recipe.data.csv = folder / "series.csv";
  recipe.data.columns = {"value", "other"};
  recipe.data.valid_fraction = 0.2;
  recipe.train.steps = 2;
  Recorder recorder;
  const TrainResult result = train(recipe, {folder / "run"}, recorder);
  EXPECT_NE(recorder.notes.find("naive forecasts"), std::string::npos);
  // 96 rows for training: 82 windows of 15; 24 held out, with 10 rows of history before them: 20.
  EXPECT_NE(recorder.notes.find("82 training windows, 20 held out"), std::string::npos) << recorder.notes;
  EXPECT_EQ(load_forecast(result.model_path).setup.columns, recipe.data.columns);
}

TEST(Trainer, ARunThatDoesNotBeginLeavesNoFolder) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.data.pairs = folder / "nowhere.tsv";
  Recorder recorder;
  EXPECT_THROW(train(recipe, {folder / "run"}, recorder), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  std::filesystem::create_directory(folder / "own");  // but the user's own stays
  EXPECT_THROW(train(recipe, {folder / "own"}, recorder), Error);
  EXPECT_TRUE(std::filesystem::exists(folder / "own"));
}

TEST(Trainer, SaysThatAFinishedRunIsReplaced) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 1;
  Recorder first, second;
  train(recipe, {folder / "run"}, first);
  train(recipe, {folder / "run"}, second);
  EXPECT_EQ(first.notes.find("is replaced"), std::string::npos);
  EXPECT_NE(second.notes.find("the finished run in this folder is replaced"), std::string::npos) << second.notes;
}

TEST(Trainer, RefusesWhatItCannotDo) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 1;
  recipe.data.max_length = 2;
  test::write_text(folder / "train.tsv", "a b c\tc b a\n");
  EXPECT_THROW(run(recipe, folder / "run"), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder / "run/metrics.jsonl"));
  test::write_text(folder / "file", "");
  EXPECT_THROW(run(small_translation(folder), folder / "file/run"), Error);
}

}  // namespace
}  // namespace glass
