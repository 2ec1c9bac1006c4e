#include "glassformer/inspect/learning_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/random.h"
#include "inspect/gradients.h"
#include "inspect/measure.h"
#include "train/preflight.h"

namespace glass {

// --- first loss

namespace {

double counted(const Tensor& labels) { return static_cast<double>(count_labels(labels, pad_token)); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Variance of a normal distribution with this median absolute deviation: one large logit, as a tied matrix gives the
// token just read, does not count.
double robust_variance(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  const double deviation = 1.4826 * median(distances);
  return deviation * deviation;
}

// Means over the counted rows of V logits.
struct LogitWidth {
  double variance = 0, robust = 0;
  double usual() const { return std::min(variance, robust); }
};

// An output row of deviation 1/√D on D normalised columns gives logits of variance 1, a Xavier or Kaiming one at most
// 2; a sample of V strays by √(2/(V − 1)) of that.
double widest(Dim classes) { return 4 * (1 + 3 * std::sqrt(2 / std::max(1.0, static_cast<double>(classes) - 1))); }

LogitWidth logit_width(const Tensor& logits, const Tensor& labels) {
  const std::vector<double> values = logits.to_vector(), wanted = labels.to_vector();
  const auto classes = static_cast<std::ptrdiff_t>(logits.size(-1));
  LogitWidth width;
  for (size_t row = 0; row < wanted.size(); ++row) {
    if (static_cast<int64_t>(wanted[row]) == pad_token) continue;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row) * classes;
    const std::vector<double> scores(first, first + classes);
    const double deviation = measure::moments(scores).deviation;
    width.variance += deviation * deviation / counted(labels);
    width.robust += robust_variance(scores) / counted(labels);
  }
  return width;
}

Finding first_loss(const TrainingTask::FirstLoss& loss, Dim classes, const LogitWidth& width) {
  const double even = std::log(static_cast<double>(classes));
  const bool wide = loss.is_plausible;
  Finding f;
  f.check = "first loss";
  f.what = wide ? "the fresh model is sure of itself before it has seen anything: its logits are too wide"
                : "the fresh model's loss is not that of one that knows nothing";
  f.evidence = {
      {"first loss", loss.measured, fmt::format("{:.3f} on shuffled labels, within 10 %", loss.expected)},
      {"variance of the logits, but for a few", width.usual(), fmt::format("1 to 2; under {:.1f}", widest(classes))},
      {"ln V + half of the variance of all", even + width.variance / 2, "near the first loss"},
      {"ln V", even, "the floor of what nothing is known of"}};
  f.cause = wide ? "no final norm before the output layer, a wide output matrix, or a missing 1/√D on tied weights"
                 : "labels that the input gives away, labels of another vocabulary, or a loss over padding";
  f.remedy = wide ? "normalise before the output layer; start its matrix with deviation 1/√D"
                  : "look at a batch by hand: input, labels, ignored label; then at the masks";
  return f;
}

}  // namespace

Findings check_first_loss(const Probe& probe, const ProbeBatch& batch) {
  if (probe.target_vocabulary == 0 || !batch.labels.defined()) return {};
  const Tensor logits = measure::logits_of(probe, batch);
  TrainingTask::FirstLoss loss = explain_first_loss(logits, batch.labels, pad_token);
  const LogitWidth width = logit_width(logits, batch.labels);
  // Few labels say little: the mean of n losses strays by about the logits' deviation over √n.
  const double strays = 4 * std::sqrt(width.variance / std::max(1.0, counted(batch.labels)));
  loss.is_plausible = std::abs(loss.measured - loss.expected) < 0.1 * loss.expected + strays;
  if (loss.is_plausible && width.usual() < widest(logits.size(-1))) return {};
  return {first_loss(loss, logits.size(-1), width)};
}

// --- learning rate

namespace {

// Of the matrices: rms of the values, the middle one.
double usual_weight(const Module& module) {
  std::vector<double> sizes;
  for (const NamedParameter& p : measure::distinct_parameters(module)) {
    if (p.tensor.rank() == 2 && measure::rms(p.tensor) > 0) sizes.push_back(measure::rms(p.tensor));
  }
  return sizes.empty() ? 0 : median(sizes);
}

double highest_rate(const ScheduleOptions& schedule) {
  return learning_rate(schedule, std::max<int64_t>(1, schedule.warmup_steps));
}

Finding rate_finding(const char* check, const char* what, double rate, double ratio, const char* healthy) {
  Finding f;
  f.check = check;
  f.what = what;
  f.evidence = {{"learning rate", rate, "1e-4 to 5e-3, less for wider models"},
                {"rate over rms of the weights", ratio, healthy}};
  return f;
}

}  // namespace

Findings check_learning_rate(const Probe& probe, const ScheduleOptions& schedule) {
  const double weight = usual_weight(*probe.module);
  if (weight == 0) return {};
  const double high = highest_rate(schedule), first = learning_rate(schedule, 1);
  if (high / weight > 0.15) {
    Finding f =
        rate_finding("learning rate", "each update moves the weights by a large part of themselves", high,
                     high / weight, "under 0.15 at its highest (updates of about 1e-3 of the weight are usual)");
    f.cause = "a rate several times too high for weights of this size";
    f.remedy = fmt::format("train.lr of {:.1g} or less", 0.02 * weight);
    return {f};
  }
  if (high / weight < 1e-4) {
    Finding f = rate_finding("learning rate", "updates are so small that training will hardly move", high,
                             high / weight, "above 1e-4 at its highest");
    f.cause = "a rate far too low";
    f.remedy = fmt::format("train.lr of about {:.1g}", 0.02 * weight);
    f.certainty = Certainty::possible;
    return {f};
  }
  // Adam's first updates are of full size whatever the gradient, and Post-LN gradients are largest then.
  const double bound = probe.norm == NormScheme::post ? 0.02 : 0.05;
  if (!probe.fresh || first / weight < bound) return {};
  Finding f = rate_finding("no warm-up", "the first updates are made at full rate", first, first / weight,
                           "under 0.02 in the first step for Post-LN, 0.05 for Pre-LN");
  f.cause = "no warm-up, or a very short one; Post-LN needs it most (Xiong et al., 2020)";
  f.remedy = "train.warmup_steps of some hundred to some thousand";
  return {f};
}

// --- can it learn

namespace {

// The parameters' values, put back at the end.
class ValuesKept {
 public:
  explicit ValuesKept(ParameterStore& store) : store_(store), values_(store.values().clone()) {}
  ~ValuesKept() { restore(); }
  ValuesKept(const ValuesKept&) = delete;
  ValuesKept& operator=(const ValuesKept&) = delete;
  void restore() {
    Tensor values = store_.values();
    values.copy_from(values_);
    store_.zero_grads();
  }

 private:
  ParameterStore& store_;
  Tensor values_;
};

struct Fit {
  double first = 0, last = 0;
  int steps = 0;
  double fall() const { return last / first; }
};

constexpr double learnt = 0.1;  // of the first loss

Fit fit(const Probe& probe, const ProbeBatch& batch, const LearningTrial& trial, ParameterStore& store) {
  AdamW optimizer(store, {0.9, 0.98, 1e-8, 0});
  const ScheduleOptions rise{Schedule::constant, trial.lr, 0, 20, 0};
  Fit result;
  while (result.steps < trial.steps) {
    store.zero_grads();
    const Tensor loss = probe_loss(probe, batch);
    result.last = loss.item();
    if (result.steps == 0) result.first = result.last;
    if (result.fall() < learnt || !std::isfinite(result.last) || !needs_grad({loss})) break;
    backward(loss);
    const double norm = global_grad_norm(store);
    ++result.steps;
    optimizer.step(learning_rate(rise, result.steps), norm > 1 ? 1 / norm : 1);
  }
  return result;
}

// The counted labels in another order; padding stays where it is.
Tensor shuffled(const Tensor& labels) {
  Tensor out = labels.contiguous().clone();
  auto* ids = out.data<int32_t>();
  std::vector<int32_t> real;
  for (Dim i = 0; i < out.numel(); ++i) {
    if (ids[i] != pad_token) real.push_back(ids[i]);
  }
  Random(hash_text("shuffled")).shuffle(real);
  size_t next = 0;
  for (Dim i = 0; i < out.numel(); ++i) {
    if (ids[i] != pad_token) ids[i] = real[next++];
  }
  return out;
}

Finding cannot_learn(const Fit& real, const Fit& control) {
  Finding f;
  f.check = "cannot learn";
  f.what = "the model does not learn a single batch by heart";
  f.evidence = {{"loss at first", real.first, "ln V and a little"},
                {"loss at the end", real.last, "under a tenth of the first"},
                {"updates made", static_cast<double>(real.steps), "fewer than allowed"},
                {"loss at the end with labels shuffled, a control", control.last, "not lower than with the real ones"}};
  f.cause = "inputs that do not reach the output, gradients that do not reach the weights, or a wrong loss";
  f.remedy = "look at the other findings first; then follow one example from input to logits by its taps";
  return f;
}

}  // namespace

Findings check_learning(const Probe& probe, const ProbeBatch& batch, const LearningTrial& wanted) {
  if (probe.target_vocabulary == 0 || !batch.labels.defined()) return {};
  LearningTrial trial = wanted;
  if (trial.lr == 0) trial.lr = 0.03 * usual_weight(*probe.module);
  ParameterStore store(*probe.module);
  ValuesKept kept(store);
  const Fit real = fit(probe, batch, trial, store);
  if (real.fall() < learnt) return {};
  kept.restore();
  ProbeBatch control = batch;
  control.labels = shuffled(batch.labels);
  return {cannot_learn(real, fit(probe, control, trial, store))};
}

}  // namespace glass
