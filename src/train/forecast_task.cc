#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/data/series.h"
#include "glassformer/train/task.h"
#include "train/preflight.h"

namespace glass {

namespace {

struct ForecastData {
  Windows train, valid;
  ForecastSetup setup;
};

ForecastData sine_data(const Recipe& r) {
  const auto& d = r.data;
  const auto seed = static_cast<uint64_t>(r.train.seed);
  const auto make = d.series == "sine_tutorial" ? sine_tutorial : sine_random;
  const Dim held_out = std::max<Dim>(50, d.windows / 10);
  // Another key, so that nothing held out was drawn for training.
  return {make(d.windows, d.history, d.horizon, d.noise, seed),
          make(held_out, d.history, d.horizon, d.noise, hash_combine(seed, hash_text("held out"))),
          {{"value"}, {0}, {1}, d.history, d.horizon}};
}

// The last rows are held out: time series are not shuffled before they are split.
ForecastData csv_data(const Recipe& r) {
  const auto& d = r.data;
  const Series series = read_csv(d.csv, d.columns);
  const auto rows = static_cast<Dim>(series.rows.size());
  const Dim held_out = static_cast<Dim>(static_cast<double>(rows) * d.valid_fraction);
  const Dim split = rows - std::max<Dim>(held_out, d.horizon);
  const ColumnStatistics statistics = column_statistics(series, 0, std::max<Dim>(split, 0));
  return {make_windows(series, 0, split, d.history, d.horizon, statistics.mean, statistics.deviation),
          make_windows(series, split - d.history, rows, d.history, d.horizon, statistics.mean, statistics.deviation),
          {series.columns, statistics.mean, statistics.deviation, d.history, d.horizon}};
}

// The last value of the history, then the true values before each step.
Tensor shifted(const Tensor& history, const Tensor& future) {
  const Tensor last = history.narrowed(1, history.size(1) - 1, history.size(1));
  return concat({last, future.narrowed(1, 0, future.size(1) - 1)}, 1);
}

double mean_squared_error(const Tensor& prediction, const Tensor& truth) { return mse(prediction, truth).item(); }

class ForecastTask : public TrainingTask {
 public:
  ForecastTask(const Recipe& recipe, const SafeTensors* resumed)
      : recipe_(recipe), data_(recipe.data.csv.empty() ? sine_data(recipe) : csv_data(recipe)) {
    if (resumed != nullptr) {
      model_ = forecast_from(*resumed, "checkpoint").model;
    } else {
      TransformerConfig config = recipe_.model_config();
      config.input_features = static_cast<Dim>(data_.setup.columns.size());
      model_ = std::make_unique<ForecastModel>(config);
    }
    notes_.push_back(fmt::format("{} training windows, {} held out, {} in, {} out", data_.train.count(),
                                 data_.valid.count(), data_.setup.history, data_.setup.horizon));
    note_baselines();
  }

  Module& module() override { return *model_; }
  const Notes& notes() const override { return notes_; }

  int64_t begin_epoch(int64_t epoch) override {
    order_.resize(static_cast<size_t>(data_.train.count()));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    Random(hash_combine(hash_combine(static_cast<uint64_t>(recipe_.train.seed), hash_text("batches")),
                        static_cast<uint64_t>(epoch)))
        .shuffle(order_);
    return (data_.train.count() + batch_size() - 1) / batch_size();
  }

  LossSum loss(int64_t batch) override {
    const Tensor rows = batch_rows(batch);
    return loss_of(index_select(data_.train.history, 0, rows), index_select(data_.train.future, 0, rows));
  }

  ValidationScore validate() override {
    const NoGrad values_only;
    constexpr Dim at_once = 256;  // bounds the memory
    double squares = 0;
    for (Dim begin = 0; begin < data_.valid.count(); begin += at_once) {
      const Dim end = std::min(begin + at_once, data_.valid.count());
      const Tensor history = data_.valid.history.narrowed(0, begin, end),
                   future = data_.valid.future.narrowed(0, begin, end);
      // As it will be used: each prediction fed back.
      squares +=
          mean_squared_error(model_->forecast(history, data_.setup.horizon), future) * static_cast<double>(end - begin);
    }
    ValidationScore score;
    score.nll = squares / static_cast<double>(data_.valid.count());
    return score;
  }

  std::string describe(int64_t batch) const override {
    std::string text = "windows";
    for (const double row : batch_rows(batch).to_vector()) text += fmt::format(" {}", static_cast<int64_t>(row) + 1);
    return text.substr(0, 200);
  }

  int64_t largest_batch() const override { return 0; }

  void check_leaks() override {
    const Tensor history = data_.train.history.narrowed(0, 0, 1).contiguous();
    check_forecast_leaks(*model_, history, shifted(history, data_.train.future.narrowed(0, 0, 1)).contiguous());
  }

  FirstLoss first_loss() override {
    const NoGrad values_only;
    const LossSum sum = loss(0);
    const double measured = sum.nll / static_cast<double>(sum.terms);
    return {measured, measured, true, fmt::format("first loss (mean squared error) {:.3f}", measured)};
  }

  uint64_t data_fingerprint() const override {
    uint64_t hash = 0;
    for (const double value : data_.train.future.to_vector()) hash = hash_combine(hash, std::bit_cast<uint64_t>(value));
    return hash;
  }

  SafeTensors contents(const ModelInfo& info) const override { return forecast_contents(*model_, data_.setup, info); }

 private:
  Dim batch_size() const { return recipe_.train.batch_sentences.value_or(64); }

  Tensor batch_rows(int64_t batch) const {
    const auto begin = static_cast<size_t>(batch * batch_size());
    const size_t end = std::min(order_.size(), begin + static_cast<size_t>(batch_size()));
    return Tensor::from(std::span(order_).subspan(begin, end - begin), {static_cast<Dim>(end - begin)});
  }

  LossSum loss_of(const Tensor& history, const Tensor& future) const {
    const Tensor prediction = (*model_)(history, shifted(history, future));  // [B,horizon,C]
    const Tensor difference = sub(prediction, future);
    LossSum out;
    out.loss = sum(mul(difference, difference));
    out.nll = out.loss.item();
    out.terms = future.numel();
    out.real_tokens = history.numel() + future.numel();
    out.examples = future.size(0);
    return out;
  }

  // Scores that need no model: one that does not beat them has learnt nothing.
  void note_baselines() {
    const Tensor &history = data_.valid.history, &future = data_.valid.future;
    const Tensor last = history.narrowed(1, history.size(1) - 1, history.size(1)).expanded(future.shape());
    const Tensor step_means = mean(data_.train.future, 0, true).expanded(future.shape());
    notes_.push_back(
        fmt::format("held-out error of naive forecasts: repeat the last value {:.4f}, mean of each step in "
                    "training {:.4f}",
                    mean_squared_error(last, future), mean_squared_error(step_means, future)));
  }

  Recipe recipe_;
  ForecastData data_;
  Notes notes_;
  std::unique_ptr<ForecastModel> model_;
  std::vector<int64_t> order_;
};

}  // namespace

std::unique_ptr<TrainingTask> make_forecast_task(const Recipe& recipe, const SafeTensors* resumed) {
  return std::make_unique<ForecastTask>(recipe, resumed);
}

}  // namespace glass
