// AdamW on a model's flat buffers, and learning-rate schedules.
#pragma once

#include "glassformer/nn/parameter_store.h"

namespace glass {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8, weight_decay = 0.01;
};

// Decoupled weight decay on every parameter (Loshchilov & Hutter, 2019), bias correction as in the paper and in
// PyTorch.
class AdamW {
 public:
  AdamW(ParameterStore& parameters, const AdamWOptions& options);
  // One update with the gradients in the store times `grad_scale`.
  void step(double lr, double grad_scale = 1);

  int64_t steps() const { return steps_; }
  // The moments, [N] float32 in the layout of the store: what a checkpoint keeps.
  const Tensor& first_moment() const { return m_; }
  const Tensor& second_moment() const { return v_; }
  void restore(int64_t steps, const Tensor& first_moment, const Tensor& second_moment);

 private:
  ParameterStore& parameters_;
  AdamWOptions options_;
  Tensor m_, v_;
  int64_t steps_ = 0;
};

// √(Σ g²) over all gradients.
double global_grad_norm(const ParameterStore& parameters);

enum class Schedule { constant, inverse_sqrt, linear, cosine };
struct ScheduleOptions {
  Schedule schedule = Schedule::inverse_sqrt;
  double lr = 1e-3, min_lr = 0;
  int64_t warmup_steps = 1000, total_steps = 0;
};
// The rate of update `step`, counted from 1: a linear rise over warmup_steps, then the schedule.
double learning_rate(const ScheduleOptions& options, int64_t step);

}  // namespace glass
