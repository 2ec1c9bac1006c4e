#include "glassformer/inspect/parameter_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "glassformer/autograd/ops.h"
#include "inspect/gradients.h"
#include "inspect/measure.h"

namespace glass {

namespace {

bool is_constant(const Tensor& x) {
  const std::vector<double> values = x.to_vector();
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
}

bool is_matrix(const NamedParameter& p) { return p.initial != Initial::zeros && p.initial != Initial::ones; }

Finding twins(const std::string& a, const std::string& b, Dim elements) {
  Finding f;
  f.check = "twins";
  f.what = "parameters of different modules start with the same values";
  f.places = {a, b};
  f.evidence = {{"equal elements", static_cast<double>(elements), "0"}};
  f.cause = "one module copied, or one random stream used again from its start; twins learn the same thing";
  f.remedy = "initialise each by its own name or draw (initialize()); if it is meant, tie them as one tensor";
  f.certainty = Certainty::certain;
  return f;
}

}  // namespace

Findings check_twins(const Probe& probe) {
  const std::vector<NamedParameter> parameters = measure::distinct_parameters(*probe.module);
  Findings findings;
  std::vector<bool> known(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& a = parameters[i].tensor;
    if (known[i] || a.numel() < 2 || is_constant(a)) continue;
    for (size_t j = i + 1; j < parameters.size(); ++j) {
      if (known[j] || !measure::same_bits(a, parameters[j].tensor)) continue;
      known[j] = true;
      Finding f = twins(parameters[i].name, parameters[j].name, a.numel());
      if (!findings.empty()) f.places.erase(f.places.begin());
      measure::add_place(findings, f);
    }
  }
  return findings;
}

// --- initial values

namespace {

double matrix_deviation(InitScheme scheme, double out, double in) {
  return std::sqrt(2 / (scheme == InitScheme::xavier ? in + out : in));
}

// Of the scheme's distribution: uniform in ±√3·deviation, or normal.
double initial_deviation(const NamedParameter& p, const InitOptions& init) {
  const auto out = static_cast<double>(p.tensor.size(0)), in = static_cast<double>(p.tensor.size(-1));
  if (p.initial == Initial::third) return matrix_deviation(init.matrices, 3 * out, in);
  const bool as_embedding = p.initial == Initial::embedding && init.embeddings == EmbeddingInit::normal;
  return as_embedding ? 1 / std::sqrt(in) : matrix_deviation(init.matrices, out, in);
}

Finding initial_scale(const NamedParameter& p, double measured, double wanted) {
  Finding f;
  f.check = "initial scale";
  f.what = measured > wanted ? "a matrix starts wider than its initialiser makes it"
                             : "a matrix starts narrower than its initialiser makes it";
  f.places = {p.name};
  f.evidence = {{"deviation of the initial values", measured, fmt::format("{:.4g} by the scheme", wanted)},
                {"measured over theory", measured / wanted, "0.9 to 1.1"}};
  f.cause = "another distribution than declared, fan-in and fan-out mistaken, or values loaded over it";
  f.remedy = "initialise by the scheme (initialize()), or declare the one that is meant";
  return f;
}

}  // namespace

Findings check_initial_scale(const Probe& probe) {
  Findings findings;
  double worst = 0;
  for (const NamedParameter& p : measure::distinct_parameters(*probe.module)) {
    if (!is_matrix(p) || p.tensor.rank() != 2) continue;
    const double measured = measure::rms(p.tensor), wanted = initial_deviation(p, probe.init);
    // A sample's deviation strays by 1/√(2n) of itself (less for uniform values): five times that, and a tenth.
    const double strays = 0.1 + 5 / std::sqrt(2 * static_cast<double>(p.tensor.numel()));
    const double distance = std::abs(std::log(std::max(measured, 1e-30) / wanted));
    if (distance < std::log(1 + strays)) continue;
    const Finding f = initial_scale(p, measured, wanted);
    if (distance > worst && !findings.empty()) {  // the worst first
      const std::vector<std::string> others = findings[0].places;
      findings[0] = f;
      findings[0].places.insert(findings[0].places.end(), others.begin(), others.end());
    } else {
      measure::add_place(findings, f);
    }
    worst = std::max(worst, distance);
  }
  return findings;
}

// --- gradients arrive

Findings check_gradients_arrive(const Probe& probe, const ProbeBatch& batch) {
  if (probe.target_vocabulary > 0 && !batch.labels.defined()) return {};
  const GradientsApart apart(*probe.module);
  const Tensor loss = probe_loss(probe, batch);
  if (needs_grad({loss})) backward(loss);
  Findings findings;
  for (const NamedParameter& p : apart.parameters()) {
    if (!is_matrix(p) || measure::rms(p.tensor.grad()) > 0) continue;
    Finding f;
    f.check = "no gradient";
    f.what = "a matrix gets no gradient from the loss: it will stay as it is";
    f.places = {p.name};
    f.evidence = {{"rms of its gradient", 0, "above 0"}};
    f.cause = "a detach(), a NoGrad, a branch that is not used, or an activation that is dead for every input";
    f.remedy = "follow the module's output to the loss (taps show where it is last seen); remove what is not used";
    f.certainty = Certainty::certain;
    measure::add_place(findings, f);
  }
  return findings;
}

}  // namespace glass
