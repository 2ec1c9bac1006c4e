#include "glassformer/inspect/trace_window.h"

#include <gtest/gtest.h>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"

namespace glass {
namespace {

SavedForecast small_forecast(Dim horizon) {
  TransformerConfig config;
  config.d_model = 8;
  config.heads = 2;
  config.d_ff = 12;
  config.encoder_layers = config.decoder_layers = 1;
  SavedForecast saved;
  saved.model = std::make_unique<ForecastModel>(config);
  saved.setup = {{"value"}, {1}, {2}, 3, horizon};
  return saved;
}

const Series series{{"value"}, {{9}, {9}, {1}, {3}, {5}, {7}, {9}}};

TEST(TraceWindow, TakesTheLastWindowScaled) {
  const Windows window = last_window(small_forecast(2), series);
  EXPECT_EQ(window.history.to_vector(), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(window.future.to_vector(), (std::vector<double>{3, 4}));
  EXPECT_THROW(last_window(small_forecast(5), series), InputError);
}

TEST(TraceWindow, IsTheModelAtWork) {
  for (const Dim horizon : {1, 2}) {
    const SavedForecast saved = small_forecast(horizon);
    const Windows window = last_window(saved, series);
    Trace trace({.gradients = true});
    const double loss = trace_window(*saved.model, window, trace);
    const Tensor history = window.history, last = slice(history, 1, 2, 3);
    const Tensor previous = horizon == 1 ? last : concat({last, slice(window.future, 1, 0, 1)}, 1);
    const Tensor prediction = (*saved.model)(history, previous);
    EXPECT_EQ(trace.at("prediction").to_vector(), prediction.to_vector());
    EXPECT_EQ(loss, mse(prediction, window.future).item());
    EXPECT_EQ(trace.entry("output.weight").gradient_state, GradientState::kept);
    EXPECT_TRUE(trace.has("decoder.layers.0.cross_attn.weights"));
  }
}

}  // namespace
}  // namespace glass
