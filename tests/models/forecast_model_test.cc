#include "glassformer/models/forecast_model.h"

#include "autograd/testing.h"

namespace glass {
namespace {

TEST(ForecastModel, FeedsItsPredictionsBack) {
  TransformerConfig c;
  c.d_model = 15;
  c.heads = 3;
  c.d_ff = 20;
  c.encoder_layers = c.decoder_layers = 2;
  c.input_features = 2;
  const ForecastModel model(c);
  const Tensor history = test::uniform({2, 4, 2}, 1, DType::f32);
  const Tensor forecast = model.forecast(history, 3);
  EXPECT_EQ(forecast.shape().text(), Shape({2, 3, 2}).text());
  // Given at once what was fed back step by step, it predicts the same; other sizes are summed in another order.
  const Tensor previous = concat({history.narrowed(1, 3, 4), forecast.narrowed(1, 0, 2)}, 1);
  const std::vector<double> want = model(history, previous).to_vector(), got = forecast.to_vector();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << "element " << i;
}

}  // namespace
}  // namespace glass
