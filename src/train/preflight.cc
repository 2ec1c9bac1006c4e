#include "train/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/base/scope.h"
#include "kernels/elementwise.h"

namespace glass {

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel()) * sizeof(float)) == 0;
}

[[noreturn]] void report_future(const char* what) {
  throw Error(std::string("leak check: ") + what +
              " changes the outputs before it, so the model would learn to copy the answer; the decoder's "
              "self-attention needs AttentionMask::causal()");
}

// ‖a − b‖/‖a‖
double relative_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    norm += x[i] * x[i];
  }
  return std::sqrt(difference / std::max(norm, 1e-30));
}

Tensor padded_by(const Tensor& source, Dim columns, int32_t token) {
  return concat({source, Tensor::full({source.size(0), columns}, token, DType::i32)}, 1);
}

// The first row of each tensor is enough: what leaks for one example leaks for all.
Tensor first_row(const Tensor& x) { return x.narrowed(0, 0, 1).contiguous(); }

}  // namespace

void check_translation_leaks(const TranslationModel& model, const TranslationBatch& batch) {
  const NoGrad values_only;
  const Tensor source = first_row(batch.source), lengths = first_row(batch.source_lengths);
  const Tensor target = first_row(batch.target_input);
  const Tensor logits = model(source, lengths, target);  // [1,T,V]
  const Dim last = target.size(1) - 1;
  if (last > 0) {
    Tensor changed = target.clone();
    int32_t& token = changed.data<int32_t>()[last];
    token = token == unknown_token ? eos_token : unknown_token;
    if (!same_bits(logits.narrowed(1, 0, last), model(source, lengths, changed).narrowed(1, 0, last))) {
      report_future("a later target token");
    }
  }
  constexpr double rounding = 1e-4;  // other sizes may be summed in another order
  const Tensor padded = model(padded_by(source, 3, unknown_token), lengths, target);
  if (!(relative_difference(logits, padded) < rounding)) {
    throw Error(
        "leak check: the content of the padding changes the outputs; attention to the source needs "
        "AttentionMask::lengths()");
  }
}

void check_forecast_leaks(const ForecastModel& model, const Tensor& history, const Tensor& previous) {
  const NoGrad values_only;
  const Dim last = previous.size(1) - 1;
  if (last == 0) return;
  Tensor changed = previous.clone();
  changed.narrowed(1, last, last + 1).fill(3);
  if (!same_bits(model(history, previous).narrowed(1, 0, last), model(history, changed).narrowed(1, 0, last))) {
    report_future("a later value");
  }
}

TrainingTask::FirstLoss explain_first_loss(const Tensor& logits, const Tensor& labels, int64_t ignored) {
  const NoGrad values_only;
  const Dim classes = logits.size(-1);
  const std::vector<double> log_shares = log_softmax(logits).to_vector(), scores = logits.to_vector();
  const std::vector<double> wanted = labels.to_vector();
  std::vector<double> frequency(static_cast<size_t>(classes));
  double count = 0, measured = 0, shuffled = 0, mean = 0, square = 0;
  for (const double label : wanted) {
    if (static_cast<int64_t>(label) == ignored) continue;
    frequency[static_cast<size_t>(label)] += 1;
    count += 1;
  }
  for (size_t row = 0; row < wanted.size(); ++row) {
    if (static_cast<int64_t>(wanted[row]) == ignored) continue;
    const size_t first = row * static_cast<size_t>(classes);
    measured -= log_shares[first + static_cast<size_t>(wanted[row])] / count;
    for (size_t c = 0; c < frequency.size(); ++c) {
      shuffled -= frequency[c] / count * log_shares[first + c] / count;
      mean += scores[first + c] / (count * static_cast<double>(classes));
      square += scores[first + c] * scores[first + c] / (count * static_cast<double>(classes));
    }
  }
  const double variance = square - mean * mean, even = std::log(static_cast<double>(classes));
  const bool close = std::abs(measured - shuffled) < 0.1 * shuffled;
  return {
      shuffled, measured, close,
      fmt::format("first loss {:.3f}; with the labels shuffled {:.3f}, ln V + variance of the logits / 2 = {:.3f} + "
                  "{:.3f}: {}",
                  measured, shuffled, even, variance / 2,
                  close ? "as it should be"
                        : "more than 10 % apart; check the initial weights, the labels and the scale of the logits")};
}

std::string first_non_finite(const std::function<void()>& forward) {
  std::string found;
  const ObserveOutputs observe([&](const char* operation, const Tensor& output, const Tensors& /*inputs*/) {
    if (!found.empty() || output.dtype() != DType::f32) return;
    const Tensor dense = output.contiguous();
    if (!kernels::any_non_finite(dense.data<float>(), dense.numel())) return;
    const std::string scope = scope_path();
    found = fmt::format("{} {}{}", operation, output.shape().text(), scope.empty() ? "" : " in " + scope);
  });
  forward();
  return found;
}

std::string nearest_non_finite_gradient(const ParameterStore& parameters) {
  const auto& entries = parameters.entries();
  const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const ParameterStore::Entry& entry) {
    const Tensor grad = ParameterStore::gradient(entry).contiguous();
    return kernels::any_non_finite(grad.data<float>(), grad.numel());
  });
  return found == entries.rend() ? std::string() : found->names[0];
}

}  // namespace glass
