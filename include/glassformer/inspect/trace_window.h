// A forecasting model at work on a window of numbers, as a trace.
#pragma once

#include "glassformer/data/series.h"
#include "glassformer/decode/saved_model.h"
#include "glassformer/inspect/trace.h"

namespace glass {

// The last window of a series that holds the model's history and the truth after it, scaled as the model was trained:
// one row of each tensor. Throws InputError if the series is too short.
Windows last_window(const SavedForecast& saved, const Series& series);

// trace_loss() (inspect/trace_loss.h) of the model over the windows, each step given the true values before it; its
// output is tapped as "prediction" [B,T,C]. The loss is the mean squared error on scaled values.
double trace_window(const ForecastModel& model, const Windows& windows, Trace& trace);

}  // namespace glass
