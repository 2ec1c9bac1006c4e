#include "glassformer/inspect/trace_window.h"

#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/inspect/trace_loss.h"

namespace glass {

Windows last_window(const SavedForecast& saved, const Series& series) {
  const ForecastSetup& setup = saved.setup;
  const Dim rows = static_cast<Dim>(series.rows.size()), needed = setup.history + setup.horizon;
  if (rows < needed) {
    throw InputError("inspect: " + std::to_string(rows) + " rows of numbers; the model needs " +
                     std::to_string(needed) + ", " + std::to_string(setup.history) + " to read and " +
                     std::to_string(setup.horizon) + " to compare with");
  }
  return make_windows(series, rows - needed, rows, setup.history, setup.horizon, setup.mean, setup.deviation);
}

double trace_window(const ForecastModel& model, const Windows& windows, Trace& trace) {
  const Dim history = windows.history.size(1), horizon = windows.future.size(1);
  const Tensor last = slice(windows.history, 1, history - 1, history);                                       // [B,1,C]
  const Tensor previous = horizon > 1 ? concat({last, slice(windows.future, 1, 0, horizon - 1)}, 1) : last;  // [B,T,C]
  const auto loss = [&] { return mse(tap("prediction", model(windows.history, previous)), windows.future); };
  return trace_loss(model, loss, trace);
}

}  // namespace glass
