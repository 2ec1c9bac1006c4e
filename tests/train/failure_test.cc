// What goes wrong in the middle of a run: a full disk, a number that is lost, a model that leaks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "train/preflight.h"
#include "train/training_runs.h"

namespace glass {
namespace {

using test::Recorder;
using test::run;
using test::small_translation;
using test::TemporaryFolder;
using test::weights;

// Files of this process stay below `bytes` while it lives: writing more fails as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    signal_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  sighandler_t signal_;
};

TEST(FullDisk, CostsACheckpointNotTheRun) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 6;
  recipe.train.checkpoint_every = 2;
  run(recipe, folder / "whole");
  Recorder recorder;
  std::optional<FullDisk> disk;
  recorder.at_step = [&](int64_t step) {
    if (step == 4) disk.emplace(4096);
    if (step == 5) {
      disk.reset();
      const auto held = read_safetensors(folder / "run/checkpoint.safetensors");
      EXPECT_EQ(held.metadata.at("info.step"), "2");  // the one before, whole
    }
  };
  train(recipe, {folder / "run"}, recorder);
  EXPECT_NE(recorder.warnings.find("checkpoint.safetensors"), std::string::npos) << recorder.warnings;
  EXPECT_EQ(
      test::differing(weights(folder / "run/checkpoint.safetensors"), weights(folder / "whole/checkpoint.safetensors")),
      "");
}

TEST(FullDisk, AtTheEndIsAnErrorAndTheRunCanGoOn) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 4;
  recipe.train.checkpoint_every = 2;
  Recorder recorder;
  std::optional<FullDisk> disk;
  recorder.at_step = [&](int64_t step) {
    if (step == 3) disk.emplace(4096);
  };
  EXPECT_THROW(train(recipe, {folder / "run"}, recorder), SystemError);
  disk.reset();
  EXPECT_EQ(run(recipe, folder / "run", true).step, 4);
}

TEST(FullDisk, LosesMetricsLinesWhole) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 6;
  Recorder recorder;
  std::optional<FullDisk> disk;
  recorder.at_step = [&](int64_t step) {
    const auto size = std::filesystem::file_size(folder / "run/metrics.jsonl");
    if (step == 2) disk.emplace(size + 10);  // not enough for the next line
    if (step == 3) disk.reset();
  };
  train(recipe, {folder / "run"}, recorder);
  const std::string metrics = test::metrics_without_rate(folder / "run");  // throws if a line is damaged
  EXPECT_EQ(metrics.find("{\"step\":3,"), std::string::npos);
  EXPECT_NE(metrics.find("{\"step\":4,"), std::string::npos);
}

// --- numbers that are lost

// A run of `recipe`, stopped after two updates, whose checkpoint then gets `value` in the first cell of a parameter.
std::string message_with(const std::string& parameter, float value, Recipe recipe, const TemporaryFolder& folder) {
  recipe.train.steps = 10;
  run(recipe, folder / "run", false, 2);
  const std::string checkpoint = folder / "run/checkpoint.safetensors";
  SafeTensors contents = read_safetensors(checkpoint);
  contents.tensors.at(parameter).data<float>()[0] = value;
  write_safetensors(checkpoint, contents);
  try {
    run(recipe, folder / "run", true);
  } catch (const NonFiniteError& error) {
    EXPECT_EQ(read_safetensors(checkpoint).metadata.at("info.step"), "2");
    return error.what();
  }
  return "no error";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" does not say \"" << part << "\"";
}

TEST(NonFinite, TheFirstOperationIsNamed) {
  const TemporaryFolder folder;
  const std::string message = message_with("encoder.layers.0.feed_forward.inner.bias",
                                           std::numeric_limits<float>::quiet_NaN(), small_translation(folder), folder);
  expect_contains(message, "step 3: the loss is not finite");
  expect_contains(message, "First non-finite value: linear");
  expect_contains(message, "in encoder.layers.0.feed_forward.inner");
  expect_contains(message, "16 pairs, lines ");
  expect_contains(message, " -> ");  // the tokens
  expect_contains(message, "lower train.lr");
}

TEST(NonFinite, InTheDecoderWithAccumulation) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.accumulate = 3;
  const std::string message =
      message_with("decoder.layers.0.cross_attn.value.weight", std::numeric_limits<float>::infinity(), recipe, folder);
  expect_contains(message, "First non-finite value: linear");
  expect_contains(message, "in decoder.layers.0.cross_attn.value");
}

TEST(NonFinite, ADivergingRunStops) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 100;
  recipe.train.lr = 1000;
  recipe.train.weight_decay = 10;  // multiplies each weight by −9999 at each update
  recipe.train.warmup_steps = 0;
  recipe.train.clip_norm = 0;
  EXPECT_THROW(run(recipe, folder / "run"), NonFiniteError);
}

// --- leaks

// Adds the mean over all positions to each: what comes later, and padding, shows everywhere.
class LeakyPositions : public PositionScheme {
 public:
  using PositionScheme::PositionScheme;
  Tensor embed(const Tensor& x, Dim /*first*/) const override { return add(x, mean(x, 1, true)); }
};

TranslationBatch one_batch() {
  const std::vector<Example> examples{{{4, 5, 6, 3}, {2, 6, 5, 4, 3}, 1}, {{7, 3}, {2, 7, 3}, 2}};
  return make_batch(examples, {0, 1});
}

TransformerConfig small_config() {
  TransformerConfig c;
  c.d_model = 16;
  c.heads = 2;
  c.d_ff = 32;
  c.encoder_layers = c.decoder_layers = 1;
  c.source_vocabulary = c.target_vocabulary = 9;
  return c;
}

std::string leak_message(const std::function<void()>& check) {
  try {
    check();
  } catch (const Error& error) {
    return error.what();
  }
  return "no leak";
}

TEST(LeakCheck, PassesASoundModel) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    TransformerConfig config = small_config();
    config.norm = norm;
    const TranslationModel model(config);
    EXPECT_EQ(leak_message([&] { check_translation_leaks(model, one_batch()); }), "no leak");
  }
}

TEST(LeakCheck, FindsTheFuture) {
  TranslationModel model(small_config());
  model.decoder_positions = std::make_unique<LeakyPositions>(nullptr, "leaky");
  expect_contains(leak_message([&] { check_translation_leaks(model, one_batch()); }), "a later target token changes");
}

TEST(LeakCheck, FindsPadding) {
  TranslationModel model(small_config());
  model.encoder_positions = std::make_unique<LeakyPositions>(nullptr, "leaky");
  expect_contains(leak_message([&] { check_translation_leaks(model, one_batch()); }), "the padding changes");
}

TEST(LeakCheck, OfForecasts) {
  TransformerConfig config = small_config();
  ForecastModel model(config);
  const Tensor history = Tensor::full({1, 6, 1}, 0.5), previous = Tensor::full({1, 4, 1}, 0.25);
  EXPECT_EQ(leak_message([&] { check_forecast_leaks(model, history, previous); }), "no leak");
  model.decoder_positions = std::make_unique<LeakyPositions>(nullptr, "leaky");
  expect_contains(leak_message([&] { check_forecast_leaks(model, history, previous); }), "a later value changes");
}

TEST(FirstLoss, OfAModelThatKnowsNothingIsThatOfShuffledLabels) {
  const Tensor labels = Tensor::from<int32_t>({1, 2, 0, 2}, {4});  // 0 is ignored
  const auto even = explain_first_loss(Tensor::zeros({4, 8}), labels, 0);
  EXPECT_NEAR(even.expected, std::log(8.0), 1e-6);
  EXPECT_NEAR(even.measured, std::log(8.0), 1e-6);
  expect_contains(even.explanation, "as it should be");
}

TEST(FirstLoss, OfLogitsThatLeanToTheirLabelsIsLower) {
  const double high = 3, rest = std::log(std::exp(high) + 3);  // of four classes
  const Tensor logits = Tensor::from<float>({0, 3, 0, 0, 0, 0, 3, 0}, {2, 4});
  const auto found = explain_first_loss(logits, Tensor::from<int32_t>({1, 2}, {2}), 0);
  EXPECT_NEAR(found.measured, rest - high, 1e-6);
  EXPECT_NEAR(found.expected, rest - high / 2, 1e-6);  // half of the shuffled labels are the other one
  expect_contains(found.explanation, "more than 10 % apart");
}

}  // namespace
}  // namespace glass
