#include "glassformer/inspect/history_checks.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "glassformer/inspect/metrics_file.h"

namespace glass {

namespace {

// The fields of a step that the checks look at.
std::optional<double>* field_of(StepMetrics& m, const std::string& name) {
  if (name == "loss") return &m.loss;
  if (name == "nll") return &m.nll;
  if (name == "lr") return &m.lr;
  if (name == "grad_norm") return &m.grad_norm;
  if (name == "tokens_per_second") return &m.tokens_per_second;
  if (name == "valid_nll") return &m.valid_nll;
  if (name == "valid_ppl") return &m.valid_ppl;
  if (name == "valid_bleu") return &m.valid_bleu;
  if (name == "valid_chrf") return &m.valid_chrf;
  return nullptr;
}

// "update_ratio.encoder.layers.0" and "grad_norm.encoder.layers.0"
void take_part(StepMetrics& m, const std::string& name, double value) {
  const size_t dot = name.find('.');
  const std::string measure = name.substr(0, dot);
  if (dot == std::string::npos || (measure != "grad_norm" && measure != "update_ratio")) return;
  const std::string part = name.substr(dot + 1);
  auto place = std::find_if(m.parts.begin(), m.parts.end(), [&](const PartMetrics& p) { return p.part == part; });
  if (place == m.parts.end()) place = m.parts.insert(m.parts.end(), {part});
  (measure == "grad_norm" ? place->grad_norm : place->update_ratio) = value;
}

struct Point {
  int64_t step = 0;
  double value = 0;
};

std::vector<Point> series(const std::vector<StepMetrics>& history, std::optional<double> StepMetrics::*field) {
  std::vector<Point> points;
  for (const StepMetrics& m : history) {
    if (m.*field) points.push_back({m.step, *(m.*field)});
  }
  return points;
}

bool lower(const Point& a, const Point& b) { return a.value < b.value; }

}  // namespace

std::vector<StepMetrics> read_metrics(const std::string& path) {
  std::vector<StepMetrics> history;
  for (const MetricsLine& line : read_metrics_file(path)) {
    StepMetrics& metrics = history.emplace_back();
    metrics.step = line.step;
    for (const auto& [name, value] : line.values) {
      if (std::optional<double>* field = field_of(metrics, name)) *field = value;
      take_part(metrics, name, value);
    }
  }
  return history;
}

// --- overfitting

namespace {

// Mean of the values of steps in (from, to]; nothing if there is none.
std::optional<double> mean_between(const std::vector<Point>& points, int64_t from, int64_t to) {
  double sum = 0, count = 0;
  for (const Point& p : points) {
    if (p.step <= from || p.step > to) continue;
    sum += p.value;
    ++count;
  }
  if (count == 0) return {};
  return sum / count;
}

Finding overfitting(const Point& best, const Point& last, double before, double after) {
  Finding f;
  f.check = "overfitting";
  f.what = "validation has become worse since its best, while training goes on falling";
  f.step = best.step;
  f.evidence = {{"validation loss at its best", best.value, ""},
                {"validation loss at the end", last.value, "within 2 % of its best"},
                {"training loss before the best", before, ""},
                {"training loss at the end", after, ""}};
  f.cause = "more updates, or a larger model, than the data carry";
  f.remedy =
      "use the best checkpoint (choose = \"best\"); more dropout, label smoothing or weight decay, a smaller "
      "model, more data";
  f.certainty = Certainty::certain;
  return f;
}

}  // namespace

Findings check_overfitting(const std::vector<StepMetrics>& history) {
  const std::vector<Point> valid = series(history, &StepMetrics::valid_nll);
  const std::vector<Point> train = series(history, &StepMetrics::nll);
  if (valid.size() < 4 || train.empty()) return {};
  const auto best = std::min_element(valid.begin(), valid.end(), lower);
  if (valid.end() - best <= 3 || valid.back().value < 1.02 * best->value) return {};
  const int64_t between = best == valid.begin() ? -1 : (best - 1)->step;
  const auto before = mean_between(train, between, best->step);
  const auto after = mean_between(train, (valid.end() - 2)->step, train.back().step);
  if (!before || !after || *after >= *before) return {};
  return {overfitting(*best, valid.back(), *before, *after)};
}

// --- the loss over time

namespace {

Finding history_finding(const char* check, const char* what, const Point& at, std::vector<Evidence> evidence,
                        const char* cause, const char* remedy) {
  Finding f;
  f.check = check;
  f.what = what;
  f.step = at.step;
  f.evidence = std::move(evidence);
  f.cause = cause;
  f.remedy = remedy;
  return f;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of the values before `end`, at most five.
double median_before(const std::vector<Point>& points, size_t end) {
  std::vector<double> values;
  for (size_t i = end - std::min<size_t>(5, end); i < end; ++i) values.push_back(points[i].value);
  return median(values);
}

// What one value differs from the next by, usually: batches of long sentences lose more than those of short ones.
double usual_change(const std::vector<Point>& points) {
  std::vector<double> changes;
  for (size_t i = 1; i < points.size(); ++i) changes.push_back(std::abs(points[i].value - points[i - 1].value));
  return median(changes);
}

void find_spikes(const std::vector<Point>& loss, Findings& findings) {
  const double noise = usual_change(loss);
  Point worst{0, 0};
  double fallen = 0;
  for (size_t i = 3; i < loss.size(); ++i) {
    const double before = median_before(loss, i), rise = loss[i].value - before;
    const double gained = std::max(loss[0].value - before, 0.2 * loss[0].value);
    if (rise < std::max(0.5 * gained, 6 * noise) || rise < worst.value) continue;
    worst = {loss[i].step, rise};
    fallen = loss[0].value - before;
  }
  if (worst.value == 0) return;
  findings.push_back(history_finding("loss spikes", "the loss jumps up, by a large part of what it had fallen", worst,
                                     {{"rise over the median of those before", worst.value, "under half of the fall"},
                                      {"fallen until then", fallen, ""},
                                      {"usual change from one to the next", noise, ""}},
                                     "a learning rate that is too high, or no clipping",
                                     "a lower train.lr, more warmup_steps, clip_norm = 1"));
}

void find_divergence(const std::vector<Point>& loss, Findings& findings) {
  if (loss.size() < 10) return;
  Point lowest{0, loss[0].value};
  for (size_t i = 5; i <= loss.size(); ++i) {
    const Point middle{loss[i - 1].step, median_before(loss, i)};
    if (lower(middle, lowest)) lowest = middle;
  }
  const double last = median_before(loss, loss.size()), fallen = loss[0].value - lowest.value;
  if (fallen <= 0 || last - lowest.value < std::max(0.5 * fallen, 2 * usual_change(loss))) return;
  findings.push_back(history_finding(
      "divergence", "the loss has risen again, and stays up", lowest,
      {{"lowest loss, median of five", lowest.value, ""}, {"loss at the end, median of five", last, "near the lowest"}},
      "a learning rate that is too high, or numbers that overflow",
      "go back to the best checkpoint; a lower train.lr, more warmup_steps"));
}

void find_standstill(const std::vector<Point>& loss, Findings& findings) {
  const auto lowest = std::min_element(loss.begin(), loss.end(), lower);
  if (loss.size() < 10 || lowest->value < 0.95 * loss[0].value) return;
  findings.push_back(history_finding("no progress", "the loss does not fall", loss.back(),
                                     {{"first loss", loss[0].value, ""}, {"lowest loss", lowest->value, "falling"}},
                                     "a rate that is too low or far too high, or a model that cannot learn",
                                     "try check_learning on one batch (glassformer doctor RECIPE does)"));
}

void find_exploding(const std::vector<Point>& norms, Findings& findings) {
  if (norms.size() < 10) return;
  std::vector<double> values;
  for (const Point& p : norms) values.push_back(p.value);
  const double usual = median(values);
  const auto largest = std::max_element(norms.begin(), norms.end(), lower);
  // The first tenth is the start, where gradients are large.
  if (largest - norms.begin() < static_cast<std::ptrdiff_t>(norms.size() / 10)) return;
  if (largest->value < 10 * usual) return;
  findings.push_back(history_finding("exploding gradients", "the gradient is many times its usual size", *largest,
                                     {{"largest norm of the gradient", largest->value, "under 10 times the usual"},
                                      {"usual norm, the median", usual, ""}},
                                     "a rate that is too high, a bad batch, or numbers near their limits",
                                     "clip_norm = 1, a lower rate; look at the batch of that step"));
}

}  // namespace

Findings check_loss_history(const std::vector<StepMetrics>& history) {
  Findings findings;
  const std::vector<Point> loss = series(history, &StepMetrics::loss);
  if (loss.size() >= 3) {
    find_spikes(loss, findings);
    find_divergence(loss, findings);
    find_standstill(loss, findings);
  }
  find_exploding(series(history, &StepMetrics::grad_norm), findings);
  return without_consequences(findings);
}

// --- the size of updates

namespace {

// Of each part the median over the steps that tell.
std::map<std::string, double> usual_updates(const std::vector<StepMetrics>& history) {
  std::map<std::string, std::vector<double>> ratios;
  for (const StepMetrics& m : history) {
    if (m.lr.value_or(0) <= 0) continue;  // no update is expected
    for (const PartMetrics& part : m.parts) ratios[part.part].push_back(part.update_ratio);
  }
  std::map<std::string, double> usual;
  for (auto& [part, values] : ratios) {
    if (values.size() >= 3) usual[part] = median(std::move(values));
  }
  return usual;
}

Finding update_finding(const char* what, const std::string& part, double ratio, const char* cause, const char* remedy) {
  Finding f;
  f.check = "update size";
  f.what = what;
  f.places = {part};
  f.evidence = {
      {"change of the weights by one update, of their own size, the median", ratio, "1e-5 to 0.02 (usual 1e-3)"}};
  f.cause = cause;
  f.remedy = remedy;
  return f;
}

}  // namespace

Findings check_update_sizes(const std::vector<StepMetrics>& history) {
  const std::map<std::string, double> usual = usual_updates(history);
  if (usual.empty()) return {};
  const auto smaller = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(usual.begin(), usual.end(), smaller);
  if (most->second > 0.02) {
    return {update_finding("an update changes the weights by a large part of what they are", most->first, most->second,
                           "a learning rate that is some ten times too high", "a lower train.lr, more warmup_steps")};
  }
  // All of them: a single part may rest, as an embedding of which few rows are in a batch.
  if (most->second < 1e-5) {
    return {update_finding("updates hardly change the weights", least->first, least->second,
                           "a learning rate that is far too low",
                           "a higher train.lr; 0.02 of the weights' rms is usual")};
  }
  return {};
}

}  // namespace glass
