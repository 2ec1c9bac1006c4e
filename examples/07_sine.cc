// The smallest forecast: ten values of one sine with noise in, the next five out. The library's trainer does all of it.
// recipes/sine.toml asks for more: phase and frequency differ from window to window ("sine_random"), and it takes 1,500
// steps of a cosine schedule.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "glassformer/decode/saved_model.h"
#include "glassformer/train/trainer.h"

using namespace glass;

namespace {

class Printer : public TrainObserver {
  void on_note(const std::string& text) override { std::printf("%s\n", text.c_str()); }
  void on_metrics(const StepMetrics& m) override {
    if (m.loss) std::printf("step %4ld  mean squared error %.4f\n", m.step, *m.loss);
    if (m.valid_nll) std::printf("step %4ld  held out         %.4f\n", m.step, held_out = *m.valid_nll);
  }

 public:
  double held_out = 1;
};

}  // namespace

int main(int argc, char** argv) {
  Recipe recipe;
  recipe.model.task = "forecast";
  recipe.model.d_model = 64;
  recipe.model.heads = 4;
  recipe.model.d_ff = 256;
  recipe.model.layers = 2;
  recipe.model.dropout = 0;
  recipe.data.series = "sine_tutorial";  // "sine_random" draws phase and frequency for each window
  recipe.train.steps = argc > 1 ? std::atoi(argv[1]) : 200;
  recipe.train.lr = 1e-3;
  recipe.train.schedule = "cosine";  // small steps at the end: a constant rate ends now here, now there
  recipe.train.warmup_steps = 50;
  recipe.train.batch_sentences = 64;
  recipe.train.validate_every = 100;
  recipe.train.average_last = 0;

  const auto folder = std::filesystem::temp_directory_path() /
                      ("glassformer_sine_" + std::to_string(std::hash<std::string>()(argv[0])));
  Printer printer;
  const TrainResult result = train(recipe, {folder.string()}, printer);
  const SavedForecast saved = load_forecast(result.model_path);
  std::printf("a model of %ld values in, %ld out\n", saved.setup.history, saved.setup.horizon);
  std::filesystem::remove_all(folder);
  return printer.held_out < 0.01 ? 0 : 1;
}
