#include "glassformer/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "glassformer/base/error.h"
#include "kernels/adamw.h"
#include "kernels/reduce.h"

namespace glass {

AdamW::AdamW(ParameterStore& parameters, const AdamWOptions& options)
    : parameters_(parameters),
      options_(options),
      m_(Tensor::zeros({parameters.size()})),
      v_(Tensor::zeros({parameters.size()})) {}

void AdamW::step(double lr, double grad_scale) {
  ++steps_;
  Tensor values = parameters_.values();
  std::vector<Tensor> grads;
  std::vector<kernels::AdamWArrays> arrays;
  for (const ParameterStore::Entry& entry : parameters_.entries()) {
    grads.push_back(ParameterStore::gradient(entry).contiguous());
    arrays.push_back({std::as_const(grads.back()).data<float>(), entry.tensor.numel(),
                      values.data<float>() + entry.offset, m_.data<float>() + entry.offset,
                      v_.data<float>() + entry.offset});
  }
  kernels::adamw({lr, options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay, steps_, grad_scale},
                 arrays);
  values.mark_changed();
}

void AdamW::restore(int64_t steps, const Tensor& first_moment, const Tensor& second_moment) {
  if (!(first_moment.shape() == m_.shape()) || !(second_moment.shape() == v_.shape())) {
    throw InputError("optimizer state: moments of " + first_moment.shape().text() + " for " + m_.shape().text() +
                     " parameters");
  }
  steps_ = steps;
  m_.copy_from(first_moment);
  v_.copy_from(second_moment);
}

double global_grad_norm(const ParameterStore& parameters) {
  std::vector<Tensor> grads;
  std::vector<std::span<const float>> arrays;
  for (const ParameterStore::Entry& entry : parameters.entries()) {
    if (!entry.tensor.grad().defined()) continue;
    grads.push_back(entry.tensor.grad().contiguous());
    arrays.emplace_back(std::as_const(grads.back()).data<float>(), static_cast<size_t>(grads.back().numel()));
  }
  return std::sqrt(kernels::squared_norm(arrays));
}

double learning_rate(const ScheduleOptions& o, int64_t step) {
  const auto now = static_cast<double>(step), warmup = static_cast<double>(o.warmup_steps);
  if (step < o.warmup_steps) return o.lr * now / warmup;
  const double rest = std::max(1.0, static_cast<double>(o.total_steps) - warmup);
  const double progress = std::clamp((now - warmup) / rest, 0.0, 1.0);
  switch (o.schedule) {
    case Schedule::constant:
      return o.lr;
    case Schedule::inverse_sqrt:
      return o.lr * std::sqrt(std::max(1.0, warmup) / now);
    case Schedule::linear:
      return o.lr + (o.min_lr - o.lr) * progress;
    case Schedule::cosine:
      return o.min_lr + (o.lr - o.min_lr) * (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
  return o.lr;
}

int64_t updates_within(double seconds, int64_t steps, double spent) {
  if (steps <= 0 || spent <= 0) return std::numeric_limits<int64_t>::max();
  const double all = std::ceil(seconds / spent * static_cast<double>(steps));
  return static_cast<int64_t>(std::clamp(all, static_cast<double>(steps + 1), 1e15));
}

}  // namespace glass
