// What is checked on the real model and data before the first update, and when a number is lost.
#pragma once

#include <functional>
#include <string>

#include "glassformer/data/batches.h"
#include "glassformer/models/forecast_model.h"
#include "glassformer/nn/parameter_store.h"
#include "glassformer/train/task.h"

namespace glass {

// On the first row of the batch: with another last token in target_input, the logits of the rows before it must keep
// their bits; with three tokens of padding after the source, all logits must stay but for rounding (1e-4 of their
// norm). Throws Error if they do not.
void check_translation_leaks(const TranslationModel& model, const TranslationBatch& batch);
// history [B,S,C], previous [B,T,C]: with other last values in `previous`, the outputs before them must keep their
// bits. Throws Error if they do not.
void check_forecast_leaks(const ForecastModel& model, const Tensor& history, const Tensor& previous);

// A model that knows nothing loses as much on its labels as on the same labels shuffled, given its own logits; for many
// classes that is about ln V + half the variance of the logits. logits [.., V], labels int [..], `ignored` not counted.
TrainingTask::FirstLoss explain_first_loss(const Tensor& logits, const Tensor& labels, int64_t ignored);

// The first operation of a forward pass that gives a non-finite value, with its scope; empty if none does.
std::string first_non_finite(const std::function<void()>& forward);

// The name of the last parameter, in the order of the forward pass, whose gradient is not finite; empty if all are.
std::string nearest_non_finite_gradient(const ParameterStore& parameters);

}  // namespace glass
