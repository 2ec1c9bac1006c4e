#include "glassformer/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "glassformer/autograd/precision.h"
#include "glassformer/base/error.h"
#include "glassformer/base/isa.h"
#include "glassformer/base/random.h"
#include "glassformer/train/optimizer.h"
#include "train/checkpoint.h"
#include "train/kept_weights.h"
#include "train/part_norms.h"
#include "train/preflight.h"
#include "train/run_files.h"

namespace glass {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

AdamWOptions adamw_options(const Recipe& r) {
  return {r.train.betas[0], r.train.betas[1], r.train.epsilon, r.train.weight_decay};
}

// What one update did.
struct UpdateSums {
  double loss = 0, nll = 0;
  int64_t terms = 0, real_tokens = 0, examples = 0;

  void add(const LossSum& part) {
    loss += part.loss.item();
    nll += part.nll;
    terms += part.terms;
    real_tokens += part.real_tokens;
    examples += part.examples;
  }
};

class Trainer {
 public:
  Trainer(const Recipe& recipe, const TrainOptions& options, TrainObserver& observer, RunFiles& files,
          const SafeTensors* resumed)
      : recipe_(recipe),
        precision_(training_precision(recipe)),
        options_(options),
        observer_(observer),
        files_(files),
        task_(make_task(recipe, resumed)),
        parameters_(task_->module()),
        optimizer_(parameters_, adamw_options(recipe)),
        schedule_(schedule_options(recipe)),
        kept_(recipe_, files_, *task_, state_, observer_) {
    state_.data_fingerprint = task_->data_fingerprint();
    if (resumed != nullptr) {
      const uint64_t fingerprint = state_.data_fingerprint;
      state_ = restore_checkpoint(*resumed, files_.checkpoint(), optimizer_);
      if (state_.data_fingerprint != fingerprint) {
        throw InputError(files_.checkpoint() + ": the training data have changed since; start a new run with these");
      }
      files_.truncate_metrics(state_.metrics_size);
    }
    batches_ = task_->begin_epoch(state_.epoch);
    if (state_.next_batch > batches_) throw InputError(files_.checkpoint() + ": its run state is damaged");
  }

  TrainResult run() {
    for (const std::string& note : task_->notes()) observer_.on_note(note);
    const char* numbers = precision_ == Precision::bf16 ? "bf16" : "float32";
    observer_.on_note(fmt::format("{} parameters; products with weights in {}", parameters_.count(), numbers));
    if (state_.step == 0) {
      preflight();
      if (files_.holds_finished_run()) observer_.on_note("the finished run in this folder is replaced");
      files_.clear();  // only now: data or a model that do not work cost an earlier run nothing
    }
    files_.begin();
    files_.write_recipe(with_absolute_paths(recipe_));
    TrainResult result;
    result.reason = loop();
    if (result.reason == StopReason::requested) {
      kept_.save_checkpoint(optimizer_, true);
    } else {
      finish(result);
    }
    result.step = state_.step;
    result.training_seconds = state_.training_seconds;
    return result;
  }

 private:
  StopReason loop() {
    validate_if_due();  // a run may have been stopped just before
    while (!kept_.patience_is_over()) {
      if (limit_reached()) return StopReason::limit;
      update();
      if (options_.stop_requested != nullptr && *options_.stop_requested) return StopReason::requested;
      validate_if_due();
      if (state_.step % recipe_.train.checkpoint_every == 0) kept_.save_checkpoint(optimizer_, false);
    }
    return StopReason::patience;
  }

  void finish(TrainResult& result) {
    // Before the last validation, which a run with a later end would not have made here: so it can go on from here.
    kept_.save_checkpoint(optimizer_, false);
    if (state_.validated_step != state_.step) validate();
    kept_.write_model(result);
    files_.finish();
  }

  // --- before the first update

  void preflight() {
    task_->check_leaks();
    observer_.on_note("leak check: no output depends on later targets or on padding");
    const auto first = task_->first_loss();
    first.is_plausible ? observer_.on_note(first.explanation) : observer_.on_warning(first.explanation);
    if (options_.before_first_update) options_.before_first_update(task_->module());
    estimate();
  }

  // One forward and backward pass of the largest batch, without an update: what it takes is what the run will take.
  void estimate() {
    reset_peak_memory();
    const int64_t largest = task_->largest_batch();
    for (int pass = 0; pass < 2; ++pass) {                          // the first one fills the allocator
      if (recipe_.train.accumulate == 1) parameters_.zero_grads();  // else they lie beside the next forward pass
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

  RandomContext random_context(int64_t first_example) const {
    return {static_cast<uint64_t>(recipe_.train.seed), static_cast<uint64_t>(state_.step + 1),
            static_cast<uint64_t>(first_example)};
  }

  // Adds the gradients of one micro-batch to those of the step.
  LossSum forward_backward(int64_t batch, int64_t first_example) {
    const RandomScope random(random_context(first_example));
    const PrecisionScope multiply_in(precision_);
    task_->module().train(true);
    LossSum sum = task_->loss(batch);
    if (!std::isfinite(sum.loss.item())) explain_non_finite(batch, first_example, "the loss");
    backward(sum.loss);
    task_->module().train(false);
    sum.loss = sum.loss.detach();
    grad_norm_ = global_grad_norm(parameters_);
    if (!std::isfinite(grad_norm_)) explain_non_finite(batch, first_example, "the gradient");
    return sum;
  }

  void update() {
    const auto start = Clock::now();
    const double lr = learning_rate(schedule_now(), state_.step + 1);
    parameters_.zero_grads();
    UpdateSums sums;
    for (int64_t i = 0; i < recipe_.train.accumulate; ++i) sums.add(forward_backward(next_batch(), sums.examples));
    const double per_term = 1.0 / static_cast<double>(std::max<int64_t>(1, sums.terms));
    const double norm = grad_norm_ * per_term;
    const double clip = recipe_.train.clip_norm;
    StepMetrics metrics{state_.step + 1, sums.loss * per_term, sums.nll * per_term, lr, norm, {}, {}, {}, {}, {}};
    step_optimizer(lr, per_term * (clip > 0 && norm > clip ? clip / norm : 1), per_term, metrics);
    ++state_.step;
    const double seconds = seconds_since(start);
    state_.training_seconds += seconds;
    log(std::move(metrics), sums.real_tokens, seconds);
  }

  bool is_logged(int64_t step) const { return step % recipe_.train.log_every == 0; }

  void step_optimizer(double lr, double grad_scale, double per_term, StepMetrics& metrics) {
    if (!is_logged(metrics.step)) return optimizer_.step(lr, grad_scale);
    const PartNorms norms(parameters_);
    optimizer_.step(lr, grad_scale);
    metrics.parts = norms.after_update(per_term);
  }

  int64_t next_batch() {
    if (state_.next_batch == batches_) {
      ++state_.epoch;
      state_.next_batch = 0;
      batches_ = task_->begin_epoch(state_.epoch);
    }
    return state_.next_batch++;
  }

  void log(StepMetrics metrics, int64_t real_tokens, double seconds) {
    interval_tokens_ += real_tokens;
    interval_seconds_ += seconds;
    const double rate = static_cast<double>(interval_tokens_) / interval_seconds_;
    observer_.on_progress(state_.step, total_steps(), fraction_done(), rate);
    if (!is_logged(state_.step)) return;
    metrics.tokens_per_second = rate;
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
    const std::string gradient = nearest_non_finite_gradient(parameters_);
    const RandomScope random(random_context(first_example));
    const PrecisionScope multiply_in(precision_);
    task_->module().train(true);
    std::string operation = first_non_finite([&] { task_->loss(batch); });
    if (operation.empty())
      operation = "in the backward pass; of the gradients, nearest to the loss, that of " + gradient;
    std::error_code ignored;
    const bool has_checkpoint = std::filesystem::exists(files_.checkpoint(), ignored);
    throw NonFiniteError(
        fmt::format("step {}: {} is not finite. First non-finite value: {}. Batch: {}. {} a lower train.lr, more "
                    "train.warmup_steps "
                    "or a smaller train.clip_norm",
                    state_.step + 1, what, operation, task_->describe(batch),
                    has_checkpoint ? "The last checkpoint is kept; go on from it with"
                                   : "There is no checkpoint yet; begin again with"));
  }

  // --- limits

  // The updates after which the run ends by its steps or its epochs, 0 if by neither. Epochs differ by a few batches,
  // as their orders do, so that only the last one's end is known.
  int64_t total_steps() const {
    const auto& t = recipe_.train;
    int64_t total = t.steps.value_or(0);
    if (t.epochs) {
      const int64_t epochs_after = std::max<int64_t>(0, *t.epochs - state_.epoch - 1);
      const int64_t batches = batches_ - state_.next_batch + epochs_after * batches_;
      const int64_t end = state_.step + (batches + t.accumulate - 1) / t.accumulate;
      total = t.steps ? std::min(total, end) : end;
    }
    return total;
  }

  bool limit_reached() const {
    const auto& t = recipe_.train;
    if (t.steps && state_.step >= *t.steps) return true;
    if (t.minutes && state_.training_seconds >= *t.minutes * 60) return true;
    const int64_t epochs_done = state_.epoch + (state_.next_batch == batches_ ? 1 : 0);
    return t.epochs && epochs_done >= *t.epochs;
  }

  // The schedule up to the first of the run's limits, as far as that can be told before an update.
  ScheduleOptions schedule_now() const {
    ScheduleOptions now = schedule_;
    if (total_steps() > 0) now.total_steps = total_steps();
    if (recipe_.train.minutes) {
      const int64_t fit = updates_within(*recipe_.train.minutes * 60, state_.step, state_.training_seconds);
      now.total_steps = std::min(now.total_steps, fit);
    }
    return now;
  }

  double fraction_done() const {
    const auto& t = recipe_.train;
    double fraction = 0;
    if (total_steps() > 0) fraction = static_cast<double>(state_.step) / static_cast<double>(total_steps());
    if (t.minutes && *t.minutes > 0) fraction = std::max(fraction, state_.training_seconds / (*t.minutes * 60));
    return std::min(1.0, fraction);
  }

  // --- validation

  void validate_if_due() {
    if (state_.step % recipe_.train.validate_every == 0 && state_.validated_step != state_.step) validate();
  }

  void validate() {
    const ValidationScore score = task_->validate();
    StepMetrics metrics;
    metrics.step = state_.step;
    metrics.valid_nll = score.nll;
    if (recipe_.model.task == "translate") metrics.valid_ppl = std::exp(score.nll);
    metrics.valid_bleu = score.bleu;
    metrics.valid_chrf = score.chrf;
    report(metrics);
    state_.validated_step = state_.step;
    kept_.judge(score);
  }

  const Recipe recipe_;
  const Precision precision_;
  const TrainOptions options_;
  TrainObserver& observer_;
  RunFiles& files_;
  std::unique_ptr<TrainingTask> task_;
  ParameterStore parameters_;
  AdamW optimizer_;
  ScheduleOptions schedule_;
  RunState state_;
  KeptWeights kept_;
  int64_t batches_ = 0;   // of the current epoch
  double grad_norm_ = 0;  // of the sum of the step's losses so far
  int64_t interval_tokens_ = 0;
  double interval_seconds_ = 0;
};

void require_same(const Recipe& run, const Recipe& wanted) {
  const std::string difference = first_difference(with_absolute_paths(run), with_absolute_paths(wanted));
  if (difference.empty()) return;
  throw InputError("resume: " + difference + " differs from the run's own recipe; start a new run to change it");
}

}  // namespace

ScheduleOptions schedule_options(const Recipe& r) {
  const auto& t = r.train;
  const Schedule schedule = t.schedule == "constant" ? Schedule::constant
                            : t.schedule == "linear" ? Schedule::linear
                            : t.schedule == "cosine" ? Schedule::cosine
                                                     : Schedule::inverse_sqrt;
  ScheduleOptions options{schedule, t.lr, t.min_lr, t.warmup_steps};
  if (t.steps) options.total_steps = *t.steps;
  return options;
}

// bf16 in software gives the same numbers slowly, so it is never chosen, but obeyed.
Precision training_precision(const Recipe& r) {
  if (r.train.precision == "auto") return has_bf16_products() ? Precision::bf16 : Precision::f32;
  return r.train.precision == "bf16" ? Precision::bf16 : Precision::f32;
}

TrainResult train(const Recipe& recipe, const TrainOptions& options, TrainObserver& observer) {
  check_recipe(recipe);
  if (options.resume) require_same(recipe_of_run(options.directory), recipe);
  RunFiles files(options.directory);
  if (!options.resume) {
    files.require_free();
    return Trainer(recipe, options, observer, files, nullptr).run();
  }
  std::error_code ignored;
  if (!std::filesystem::exists(files.checkpoint(), ignored)) {
    observer.on_note("the run was killed before its first checkpoint; it begins again");
    return Trainer(recipe, options, observer, files, nullptr).run();
  }
  const SafeTensors resumed = read_safetensors(files.checkpoint());
  return Trainer(recipe, options, observer, files, &resumed).run();
}

}  // namespace glass
