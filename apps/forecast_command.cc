#include <cmath>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "glassformer/data/series.h"
#include "glassformer/decode/saved_model.h"
#include "output.h"
#include "plot.h"

namespace glass::program {

namespace {

struct Options {
  std::string model, csv, plot;
  Dim horizon = 0;
  bool json = false, hold_out = false;
};

// The rows of the model's history that end before row `end`, scaled. [1,S,C]
Tensor scaled_rows(const Series& series, const ForecastSetup& setup, size_t end) {
  const auto columns = static_cast<Dim>(setup.columns.size());
  Tensor out = Tensor::empty({1, setup.history, columns});
  float* value = out.data<float>();
  for (size_t row = end - static_cast<size_t>(setup.history); row < end; ++row) {
    for (size_t c = 0; c < setup.columns.size(); ++c) {
      *value = static_cast<float>((series.rows[row][c] - setup.mean[c]) / setup.deviation[c]);
      if (!std::isfinite(*value++)) {
        throw InputError(
            fmt::format("column \"{}\", row {} of the data: {} is far beyond what the model was trained on",
                        setup.columns[c], row + 1, series.rows[row][c]));
      }
    }
  }
  return out;
}

// Back in the data's own units, a row a step.
std::vector<std::vector<double>> unscaled(const Tensor& forecast, const ForecastSetup& setup) {
  const std::vector<double> values = forecast.to_vector();
  std::vector<std::vector<double>> rows;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t column = i % setup.columns.size();
    if (column == 0) rows.emplace_back();
    rows.back().push_back(values[i] * setup.deviation[column] + setup.mean[column]);
  }
  return rows;
}

// As CSV has it: in quotes where the name holds a comma, a quote or a line's end.
std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string as_csv(const std::vector<std::string>& columns, const std::vector<std::vector<double>>& rows) {
  std::string out;
  for (size_t c = 0; c < columns.size(); ++c) out += (c > 0 ? "," : "") + quoted(columns[c]);
  for (const auto& row : rows) {
    out += '\n';
    for (size_t c = 0; c < row.size(); ++c) out += fmt::format("{}{:.6g}", c > 0 ? "," : "", row[c]);
  }
  return out + "\n";
}

void write_plot(const std::string& path, const Series& series, const ForecastSetup& setup, size_t end,
                const std::vector<std::vector<double>>& forecast) {
  Curve history{"history", "#333333", -static_cast<double>(setup.history) + 1, {}, false};
  Curve predicted{"forecast", "#d1495b", 1, {}, true}, truth{"truth", "#2e86ab", 1, {}, false};
  for (size_t row = end - static_cast<size_t>(setup.history); row < end; ++row)
    history.values.push_back(series.rows[row][0]);
  for (const auto& row : forecast) predicted.values.push_back(row[0]);
  for (size_t row = end; row < series.rows.size() && row < end + forecast.size(); ++row)
    truth.values.push_back(series.rows[row][0]);
  std::vector<Curve> curves{history, predicted};
  if (!truth.values.empty()) curves.push_back(truth);
  const std::string svg = chart_svg("forecast of " + setup.columns[0], curves);
  write_file(path, svg);
}

int run(const Options& o) {
  const SavedForecast saved = load_forecast(o.model);
  const Series series = read_csv(o.csv, saved.setup.columns);
  const Dim horizon = o.horizon > 0 ? o.horizon : saved.setup.horizon;
  const auto held = static_cast<size_t>(o.hold_out ? horizon : 0);
  if (series.rows.size() < static_cast<size_t>(saved.setup.history) + held) {
    throw InputError(fmt::format("{}: {} rows are too few; the model reads {}{}", o.csv, series.rows.size(),
                                 saved.setup.history, o.hold_out ? fmt::format(" and holds out {}", horizon) : ""));
  }
  const size_t end = series.rows.size() - held;
  const auto rows = unscaled(saved.model->forecast(scaled_rows(series, saved.setup, end), horizon), saved.setup);
  if (!o.plot.empty()) write_plot(o.plot, series, saved.setup, end, rows);
  if (o.json) {
    print(nlohmann::ordered_json{{"columns", saved.setup.columns}, {"forecast", rows}}.dump() + "\n");
  } else {
    print(as_csv(saved.setup.columns, rows));
  }
  return 0;
}

}  // namespace

void add_forecast(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("forecast", "Continue a series of numbers");
  command->add_option("csv", options->csv, "CSV file with the columns that the model was trained on")->required();
  command->add_option("--model", options->model, "Model file")->required();
  command->add_option("--horizon", options->horizon, "Steps to forecast (default: as in training)")
      ->check(CLI::Range(1, 100000));
  command->add_flag("--hold-out", options->hold_out, "Forecast the last rows of the file, to compare with them");
  command->add_option("--plot", options->plot, "Write history, truth and forecast of the first column as SVG");
  command->add_flag("--json", options->json, "As JSON");
  command->footer("Example: glassformer forecast sales.csv --model runs/sales/model.safetensors --plot forecast.svg");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
