#include "train/kept_weights.h"

#include <fmt/format.h>

#include <charconv>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/base/isa.h"

namespace glass {

namespace {

constexpr const char* step_key = "step";

// Throws InputError if the file does not say.
int64_t step_of(const SafeTensors& contents) {
  const auto text = contents.metadata.find(std::string("info.") + step_key);
  int64_t step = 0;
  if (text == contents.metadata.end()) throw InputError("the file does not say at which step it was written");
  const auto [end, fault] = std::from_chars(text->second.data(), text->second.data() + text->second.size(), step);
  if (fault != std::errc()) throw InputError("the file's step is no number: " + text->second);
  return step;
}

}  // namespace

ModelInfo KeptWeights::info(int64_t step) const {
  return {{"library", GLASSFORMER_VERSION},
          {step_key, std::to_string(step)},
          {"isa", std::string(isa_name(isa()))},
          {"recipe", recipe_text(with_file_names(recipe_))}};
}

// A full disk in the middle of a run costs a file, not the run.
bool KeptWeights::try_to_write(const std::string& path) {
  try {
    write_safetensors(path, task_.contents(info(state_.step)));
    return true;
  } catch (const SystemError& error) {
    observer_.on_warning(error.what());
    return false;
  }
}

void KeptWeights::judge(const ValidationScore& score) {
  keep_for_average();
  if (state_.best_step != 0 && !score.is_better_than(state_.best, recipe_.train.best_by)) {
    ++state_.validations_without_best;
    return;
  }
  state_.best = score;
  state_.best_step = state_.step;
  state_.validations_without_best = 0;
  try_to_write(files_.best());
}

bool KeptWeights::patience_is_over() const {
  return recipe_.train.patience > 0 && state_.validations_without_best >= recipe_.train.patience;
}

void KeptWeights::keep_for_average() {
  if (recipe_.train.average_last < 2 || !try_to_write(files_.average(state_.step))) return;
  auto& steps = state_.average_steps;
  steps.push_back(state_.step);
  if (static_cast<int64_t>(steps.size()) > recipe_.train.average_last) steps.erase(steps.begin());
}

void KeptWeights::save_checkpoint(const AdamW& optimizer, bool must_succeed) {
  state_.metrics_size = files_.metrics_size();
  try {
    write_safetensors(files_.checkpoint(), checkpoint_contents(task_, optimizer, state_, info(state_.step)));
  } catch (const SystemError& error) {
    if (must_succeed) throw;
    observer_.on_warning(error.what());
    return;
  }
  // Only now: the checkpoint before would still have asked for them.
  files_.remove_averages_except(state_.average_steps);
}

// --- the end

void KeptWeights::write_model(TrainResult& result) {
  const Choice choice = choose();
  write_safetensors(files_.model(), task_.contents(info(choice.step)));
  result.model_choice = choice.text;
  result.model_path = files_.model();
}

KeptWeights::Choice KeptWeights::choose() {
  const Choice last{fmt::format("last, at step {}", state_.step), state_.step};
  const std::string& wanted = recipe_.train.choose;
  if (wanted == "last") return last;
  SafeTensors current = task_.contents({});
  for (auto& [name, tensor] : current.tensors) tensor = tensor.clone();
  if (state_.average_steps.size() > 1 && use_average()) {
    const Choice average{fmt::format("average of the weights at {} validations, the last at step {}",
                                     state_.average_steps.size(), state_.average_steps.back()),
                         state_.average_steps.back()};
    const ValidationScore score = task_.validate();
    const auto text = [](const ValidationScore& v) {
      return fmt::format("{:.4f}", v.nll) + (v.bleu ? fmt::format(" (BLEU {:.2f})", *v.bleu) : "");
    };
    observer_.on_note(fmt::format("the average of the last {} has a validation loss of {}, the best step, {}, {}",
                                  state_.average_steps.size(), text(score), state_.best_step, text(state_.best)));
    if (wanted == "average" || score.is_better_than(state_.best, recipe_.train.best_by)) return average;
    take_parameters(task_.module(), current, "last");
  }
  return wanted == "best" && state_.best_step != state_.step ? use_best() : last;
}

bool KeptWeights::use_average() {
  SafeTensors average;
  const double share = 1.0 / static_cast<double>(state_.average_steps.size());
  try {
    for (const int64_t step : state_.average_steps) {
      for (const auto& [name, tensor] : read_safetensors(files_.average(step)).tensors) {
        Tensor& sum = average.tensors[name];
        sum = sum.defined() ? add(sum, mul(tensor, share)) : mul(tensor, share);
      }
    }
  } catch (const Error& error) {
    observer_.on_warning(std::string("no average: ") + error.what());
    return false;
  }
  take_parameters(task_.module(), average, "average");
  return true;
}

KeptWeights::Choice KeptWeights::use_best() {
  try {
    const SafeTensors best = read_safetensors(files_.best());
    take_parameters(task_.module(), best, files_.best());
    // Its own word on the step: a run that was continued past its end may hold a better one than the state knows of.
    const int64_t step = step_of(best);
    return {fmt::format("best at step {}", step), step};
  } catch (const Error& error) {
    observer_.on_warning(std::string("the best weights are lost, these are the last: ") + error.what());
    return {fmt::format("last, at step {}", state_.step), state_.step};
  }
}

}  // namespace glass
