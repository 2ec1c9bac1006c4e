#include "glassformer/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "glassformer/base/error.h"
#include "glassformer/base/isa.h"
#include "glassformer/base/random.h"
#include "glassformer/train/optimizer.h"
#include "train/checkpoint.h"
#include "train/preflight.h"
#include "train/run_files.h"

namespace glass {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

ScheduleOptions schedule_options(const Recipe& r) {
  const auto& t = r.train;
  const Schedule schedule = t.schedule == "constant" ? Schedule::constant
                            : t.schedule == "linear" ? Schedule::linear
                            : t.schedule == "cosine" ? Schedule::cosine
                                                     : Schedule::inverse_sqrt;
  return {schedule, t.lr, t.min_lr, t.warmup_steps, t.steps.value_or(0)};
}

AdamWOptions adamw_options(const Recipe& r) {
  return {r.train.betas[0], r.train.betas[1], r.train.epsilon, r.train.weight_decay};
}

// What one update did.
struct UpdateSums {
  double loss = 0, nll = 0;
  int64_t terms = 0, real_tokens = 0, examples = 0;
};

class Trainer {
 public:
  Trainer(const Recipe& recipe, const TrainOptions& options, TrainObserver& observer, const SafeTensors* resumed)
      : recipe_(recipe),
        options_(options),
        observer_(observer),
        files_(options.directory),
        task_(make_task(recipe, resumed)),
        parameters_(task_->module()),
        optimizer_(parameters_, adamw_options(recipe)),
        schedule_(schedule_options(recipe)) {
    if (resumed != nullptr) state_ = restore_checkpoint(*resumed, files_.checkpoint(), optimizer_);
    files_.truncate_metrics(state_.metrics_size);
    files_.write_recipe(recipe_);
    batches_ = task_->begin_epoch(state_.epoch);
  }

  TrainResult run() {
    for (const std::string& note : task_->notes()) observer_.on_note(note);
    observer_.on_note(fmt::format("{} parameters", parameters_.size()));
    if (state_.step == 0) preflight();
    TrainResult result;
    while (!limit_reached()) {
      update();
      const bool wanted = options_.stop_requested != nullptr && *options_.stop_requested;
      if (!wanted && state_.step % recipe_.train.validate_every == 0 && validate_and_judge()) {
        result.reason = StopReason::patience;
        break;
      }
      if (wanted || state_.step % recipe_.train.checkpoint_every == 0) save_checkpoint(wanted);
      if (wanted) {
        result.reason = StopReason::requested;
        break;
      }
    }
    if (result.reason != StopReason::requested) finish(result);
    result.step = state_.step;
    result.training_seconds = state_.training_seconds;
    return result;
  }

 private:
  // --- before the first update

  void preflight() {
    task_->check_leaks();
    observer_.on_note("leak check: no output depends on later targets or on padding");
    const auto first = task_->first_loss();
    const bool close = std::abs(first.measured - first.expected) < 0.1 * first.expected;
    close ? observer_.on_note(first.explanation) : observer_.on_warning(first.explanation);
    estimate();
  }

  // One forward and backward pass of the largest batch, without an update: what it takes is what the run will take.
  void estimate() {
    reset_peak_memory();
    const int64_t largest = task_->largest_batch();
    for (int pass = 0; pass < 2; ++pass) {  // the first one fills the allocator
      const auto start = Clock::now();
      forward_backward(largest, 0);
      if (pass == 1) report_estimate(seconds_since(start));
    }
    parameters_.zero_grads();
  }

  void report_estimate(double seconds) {
    const double gigabytes = static_cast<double>(memory_use().peak) / 1e9;
    std::string text = fmt::format("the largest batch takes {:.2f} GB and {:.2f} s", gigabytes, seconds);
    const int64_t steps = total_steps();
    if (steps > 0) {
      const double minutes = seconds * static_cast<double>(steps * recipe_.train.accumulate) / 60;
      text += fmt::format("; {} updates at most {:.1f} minutes", steps, minutes);
    }
    observer_.on_note(text);
  }

  // --- one update

  LossSum forward_backward(int64_t batch, int64_t first_example) {
    const RandomScope random({static_cast<uint64_t>(recipe_.train.seed), static_cast<uint64_t>(state_.step + 1),
                              static_cast<uint64_t>(first_example)});
    task_->module().train(true);
    LossSum sum = task_->loss(batch);
    if (!std::isfinite(sum.loss.item())) explain_non_finite(batch, first_example, "the loss");
    backward(sum.loss);
    task_->module().train(false);
    sum.loss = sum.loss.detach();
    return sum;
  }

  void update() {
    const auto start = Clock::now();
    parameters_.zero_grads();
    UpdateSums sums;
    int64_t batch = 0;
    for (int64_t i = 0; i < recipe_.train.accumulate; ++i) {
      batch = next_batch();
      const LossSum part = forward_backward(batch, sums.examples);
      sums.loss += part.loss.item();
      sums.nll += part.nll;
      sums.terms += part.terms;
      sums.real_tokens += part.real_tokens;
      sums.examples += part.examples;
    }
    const double per_term = 1.0 / static_cast<double>(std::max<int64_t>(1, sums.terms));
    const double norm = global_grad_norm(parameters_) * per_term;
    if (!std::isfinite(norm)) explain_non_finite(batch, 0, "the gradient");
    const double clip = recipe_.train.clip_norm;
    const double lr = learning_rate(schedule_, state_.step + 1);
    optimizer_.step(lr, per_term * (clip > 0 && norm > clip ? clip / norm : 1));
    ++state_.step;
    const double seconds = seconds_since(start);
    state_.training_seconds += seconds;
    log(sums, per_term, lr, norm, seconds);
  }

  int64_t next_batch() {
    if (state_.next_batch == batches_) {
      ++state_.epoch;
      state_.next_batch = 0;
      batches_ = task_->begin_epoch(state_.epoch);
    }
    return state_.next_batch++;
  }

  void log(const UpdateSums& sums, double per_term, double lr, double norm, double seconds) {
    interval_tokens_ += sums.real_tokens;
    interval_seconds_ += seconds;
    const double rate = static_cast<double>(interval_tokens_) / interval_seconds_;
    observer_.on_progress(state_.step, total_steps(), fraction_done(), rate);
    if (state_.step % recipe_.train.log_every != 0) return;
    StepMetrics metrics{state_.step, sums.loss * per_term, sums.nll * per_term, lr, norm, rate, {}, {}, {}, {}};
    report(metrics);
    interval_tokens_ = 0;
    interval_seconds_ = 0;
  }

  void report(const StepMetrics& metrics) {
    files_.append_metrics(metrics);
    observer_.on_metrics(metrics);
  }

  // Runs the same forward pass again, watching every operation.
  [[noreturn]] void explain_non_finite(int64_t batch, int64_t first_example, const char* what) {
    const RandomScope random({static_cast<uint64_t>(recipe_.train.seed), static_cast<uint64_t>(state_.step + 1),
                              static_cast<uint64_t>(first_example)});
    task_->module().train(true);
    std::string operation = first_non_finite([&] { task_->loss(batch); });
    if (operation.empty()) operation = "none of the forward pass; the backward pass overflowed";
    throw NonFiniteError(fmt::format(
        "step {}: {} is not finite. First non-finite value: {}. Batch: {}. The last checkpoint is kept; go on from it with "
        "a lower train.lr, more train.warmup_steps or a smaller train.clip_norm",
        state_.step + 1, what, operation, task_->describe(batch)));
  }

  // --- limits

  int64_t total_steps() const {
    if (recipe_.train.steps) return *recipe_.train.steps;
    if (recipe_.train.epochs) return *recipe_.train.epochs * batches_ / recipe_.train.accumulate;
    return 0;
  }

  bool limit_reached() const {
    const auto& t = recipe_.train;
    if (t.steps && state_.step >= *t.steps) return true;
    if (t.minutes && state_.training_seconds >= *t.minutes * 60) return true;
    const int64_t epochs_done = state_.epoch + (state_.next_batch == batches_ ? 1 : 0);
    return t.epochs && epochs_done >= *t.epochs;
  }

  double fraction_done() const {
    const auto& t = recipe_.train;
    double fraction = 0;
    if (total_steps() > 0) fraction = static_cast<double>(state_.step) / static_cast<double>(total_steps());
    if (t.minutes && *t.minutes > 0) fraction = std::max(fraction, state_.training_seconds / (*t.minutes * 60));
    return std::min(1.0, fraction);
  }

  // --- validation and what is kept

  ValidationScore validate() {
    const ValidationScore score = task_->validate();
    StepMetrics metrics;
    metrics.step = state_.step;
    metrics.valid_nll = score.nll;
    if (recipe_.model.task == "translate") metrics.valid_ppl = std::exp(score.nll);
    metrics.valid_bleu = score.bleu;
    metrics.valid_chrf = score.chrf;
    report(metrics);
    last_validated_ = state_.step;
    return score;
  }

  // Whether patience has run out.
  bool validate_and_judge() {
    const ValidationScore score = validate();
    keep_for_average();
    if (state_.best_step == 0 || score.is_better_than(state_.best, recipe_.train.best_by)) {
      state_.best = score;
      state_.best_step = state_.step;
      state_.validations_without_best = 0;
      try_to_write(files_.best(), task_->contents(info()));
    } else {
      ++state_.validations_without_best;
    }
    return recipe_.train.patience > 0 && state_.validations_without_best >= recipe_.train.patience;
  }

  void keep_for_average() {
    if (recipe_.train.average_last < 2) return;
    try_to_write(files_.average(state_.step), task_->contents(info()));
    state_.average_steps.push_back(state_.step);
    if (static_cast<int64_t>(state_.average_steps.size()) <= recipe_.train.average_last) return;
    dropped_averages_.push_back(state_.average_steps.front());
    state_.average_steps.erase(state_.average_steps.begin());
  }

  ModelInfo info() const {
    return {{"library", GLASSFORMER_VERSION},
            {"step", std::to_string(state_.step)},
            {"isa", std::string(isa_name(isa()))},
            {"recipe", recipe_text(recipe_)}};
  }

  void save_checkpoint(bool must_succeed) {
    state_.metrics_size = files_.metrics_size();
    const SafeTensors contents = checkpoint_contents(*task_, optimizer_, state_, info());
    if (must_succeed) {
      write_safetensors(files_.checkpoint(), contents);
    } else if (!try_to_write(files_.checkpoint(), contents)) {
      return;
    }
    // Only now: an earlier checkpoint would still have asked for them.
    for (const int64_t step : dropped_averages_) {
      std::error_code ignored;
      std::filesystem::remove(files_.average(step), ignored);
    }
    dropped_averages_.clear();
  }

  // A full disk in the middle of a run costs a checkpoint, not the run.
  bool try_to_write(const std::string& path, const SafeTensors& contents) {
    try {
      write_safetensors(path, contents);
      return true;
    } catch (const SystemError& error) {
      observer_.on_warning(error.what());
      return false;
    }
  }

  // --- the end

  void finish(TrainResult& result) {
    if (last_validated_ != state_.step) validate_and_judge();
    save_checkpoint(false);
    result.model_choice = choose_model();
    write_safetensors(files_.model(), task_->contents(info()));
    result.model_path = files_.model();
  }

  // Leaves the chosen weights in the model; says which they are.
  std::string choose_model() {
    const std::string& choice = recipe_.train.choose;
    if (choice == "average" && state_.average_steps.size() > 1 && load_average()) {
      validate();
      return fmt::format("average of the weights at {} validations, the last at step {}", state_.average_steps.size(),
                         state_.average_steps.back());
    }
    if (choice == "best" && state_.best_step != state_.step) {
      take_parameters(task_->module(), read_safetensors(files_.best()), files_.best());
      return fmt::format("best at step {}", state_.best_step);
    }
    return fmt::format("last, at step {}", state_.step);
  }

  bool load_average() {
    std::map<std::string, Tensor> sums;
    const double share = 1.0 / static_cast<double>(state_.average_steps.size());
    SafeTensors part;
    try {
      for (const int64_t step : state_.average_steps) {
        part = read_safetensors(files_.average(step));
        for (const auto& [name, tensor] : part.tensors) {
          Tensor& sum = sums[name];
          sum = sum.defined() ? add(sum, mul(tensor, share)) : mul(tensor, share);
        }
      }
    } catch (const InputError& error) {
      observer_.on_warning(std::string("no average: ") + error.what());
      return false;
    }
    part.tensors = std::move(sums);
    take_parameters(task_->module(), part, "average");
    return true;
  }

  const Recipe recipe_;
  const TrainOptions options_;
  TrainObserver& observer_;
  RunFiles files_;
  std::unique_ptr<TrainingTask> task_;
  ParameterStore parameters_;
  AdamW optimizer_;
  ScheduleOptions schedule_;
  RunState state_;
  int64_t batches_ = 0;
  int64_t last_validated_ = -1;
  std::vector<int64_t> dropped_averages_;
  int64_t interval_tokens_ = 0;
  double interval_seconds_ = 0;
};

void check_precision(const Recipe& recipe) {
  if (recipe.train.precision == "bf16" && !has_bf16_products()) {
    throw InputError("train.precision \"bf16\": this machine multiplies no bf16 numbers (" + std::string(isa_name(isa())) +
                     "); use \"auto\" or \"f32\"");
  }
}

}  // namespace

TrainResult train(const Recipe& recipe, const TrainOptions& options, TrainObserver& observer) {
  check_recipe(recipe);
  check_precision(recipe);
  if (!options.resume) return Trainer(recipe, options, observer, nullptr).run();
  const std::string difference = first_difference(recipe_of_run(options.directory), recipe);
  if (!difference.empty()) {
    throw InputError("resume: " + difference + " differs from the run's own recipe; start a new run to change it");
  }
  const std::string path = RunFiles(options.directory).checkpoint();
  const SafeTensors resumed = read_safetensors(path);
  return Trainer(recipe, options, observer, &resumed).run();
}

}  // namespace glass
