// A tiny model must learn: to reverse a sequence it never saw, exactly, and to forecast a sine.
#include <gtest/gtest.h>

#include <set>

#include "glassformer/decode/translator.h"
#include "train/training_runs.h"

namespace glass {
namespace {

using test::Recorder;
using test::TemporaryFolder;

TEST(Learning, ReversesSequencesItNeverSaw) {
  const TemporaryFolder folder;
  Recipe recipe = test::small_translation(folder);
  test::write_text(folder / "train.tsv", test::reversal_pairs(6000, 8, 10, 1));
  test::write_text(folder / "valid.tsv", test::reversal_pairs(300, 8, 10, 2));
  recipe.model.d_model = 32;
  recipe.model.dropout = 0;
  recipe.train.steps = 1500;
  recipe.train.batch_sentences = 64;
  recipe.train.lr = 5e-3;
  recipe.train.warmup_steps = 50;
  recipe.train.schedule = "cosine";
  recipe.train.label_smoothing = 0;
  recipe.train.log_every = 100;
  recipe.train.validate_every = 750;
  recipe.train.choose = "last";
  Recorder recorder;
  const TrainResult result = train(recipe, {folder / "run"}, recorder);

  std::set<std::string> seen;
  std::istringstream training(test::read_text(folder / "train.tsv"));
  for (std::string line; std::getline(training, line);) seen.insert(line);
  std::vector<std::string> sources, wanted;
  std::istringstream lines(test::read_text(folder / "valid.tsv"));
  for (std::string line; std::getline(lines, line);) {
    if (seen.count(line) > 0) continue;
    sources.push_back(line.substr(0, line.find('\t')));
    wanted.push_back(line.substr(line.find('\t') + 1));
  }
  ASSERT_GT(sources.size(), 100u);
  const auto translated = Translator::load(result.model_path).translate(sources);
  size_t right = 0;
  for (size_t i = 0; i < wanted.size(); ++i) right += translated[i].text == wanted[i];
  EXPECT_EQ(right, wanted.size());
}

double forecast_error(const std::string& series, int64_t steps) {
  const TemporaryFolder folder;
  Recipe recipe = test::small_forecast();
  recipe.model.d_model = 32;
  recipe.model.heads = 4;
  recipe.model.dropout = 0;
  recipe.data.series = series;
  recipe.train.steps = steps;
  recipe.train.lr = 3e-3;
  recipe.train.warmup_steps = 30;
  recipe.train.schedule = "cosine";
  recipe.data.windows = 2000;
  recipe.train.validate_every = steps;
  Recorder recorder;
  train(recipe, {folder / "run"}, recorder);
  return *recorder.metrics.back().valid_nll;
}

// The noise alone, of deviation 0.05, leaves an error of 0.0025.
TEST(Learning, ForecastsTheTutorialsSine) { EXPECT_LT(forecast_error("sine_tutorial", 150), 0.01); }

TEST(Learning, ForecastsSinesOfAnyPhaseAndFrequency) { EXPECT_LT(forecast_error("sine_random", 600), 0.01); }

}  // namespace
}  // namespace glass
