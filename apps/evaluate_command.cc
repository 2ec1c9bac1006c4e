#include <cmath>
#include <optional>

#include "commands.h"
#include "glassformer/autograd/ops.h"
#include "glassformer/base/atomic_file.h"
#include "glassformer/data/batches.h"
#include "glassformer/data/series.h"
#include "glassformer/data/text.h"
#include "output.h"
#include "scores.h"
#include "translate_options.h"

namespace glass::program {

namespace {

struct Options {
  std::string model, source, target, pairs, csv, hypotheses;
  SearchFlags search;
  ScoreFlags score;
  bool replace_invalid = false;

  InvalidUtf8 invalid() const { return replace_invalid ? InvalidUtf8::replace : InvalidUtf8::error; }
};

// Mean −log p of a real target token, teacher-forced.
double mean_nll(const SavedTranslation& saved, const ParallelText& text, int64_t max_length) {
  const NoGrad values_only;
  const ExampleSet set =
      make_examples(text.source, text.target, *saved.source, *saved.target, max_length, LongLines::cut);
  double sum = 0;
  int64_t tokens = 0;
  for (const auto& rows : plan_by_length(set.examples, {4096, 0})) {
    const TranslationBatch batch = make_batch(set.examples, rows);
    const Tensor logits = (*saved.model)(batch.source, batch.source_lengths, batch.target_input);
    double nll = 0;
    cross_entropy_sum(logits, batch.target_output, {0, pad_token}, &nll);
    sum += nll;
    tokens += batch.target_tokens;
  }
  if (tokens == 0) throw InputError("evaluate: no pair has text on both sides, so there is nothing to score");
  return sum / static_cast<double>(tokens);
}

void write_lines(AtomicFile& file, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) file.write((line + "\n").data(), line.size() + 1);
  file.commit();
}

int evaluate_translation(const Options& o, SavedTranslation saved) {
  const ParallelText text =
      o.pairs.empty() ? read_pairs(o.source, o.target, o.invalid()) : read_tsv_pairs(o.pairs, o.invalid());
  const Translator translator(std::move(saved), weights_from_name(o.search.weights));
  std::optional<AtomicFile> hypotheses;
  if (!o.hypotheses.empty()) hypotheses.emplace(o.hypotheses);  // before the work: it may not be writable
  std::vector<std::string> outputs;
  for (const Translation& translation : translator.translate(text.source, o.search.options()))
    outputs.push_back(translation.text);
  if (hypotheses) write_lines(*hypotheses, outputs);
  const int64_t longest = longest_source(translator.saved().model->config, o.search.max_source);
  const double nll = mean_nll(translator.saved(), text, longest);
  const std::string scores = scores_text(outputs, {text.target}, o.score);
  if (o.score.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(scores);
    json["nll"] = nll;
    json["perplexity"] = std::exp(nll);
    json["sentences"] = text.size();
    print(json.dump() + "\n");
  } else {
    print(scores +
          fmt::format("perplexity = {:.3f} (nll {:.4f} a token), {} sentences\n", std::exp(nll), nll, text.size()));
  }
  return 0;
}

int evaluate_forecast(const Options& o, const SavedForecast& saved) {
  if (o.csv.empty()) throw InputError("evaluate: a forecasting model needs --csv");
  const Series series = read_csv(o.csv, saved.setup.columns);
  const Windows windows = make_windows(series, 0, static_cast<Dim>(series.rows.size()), saved.setup.history,
                                       saved.setup.horizon, saved.setup.mean, saved.setup.deviation);
  const NoGrad values_only;
  double squared = 0, absolute = 0, naive = 0;
  constexpr Dim block = 256;
  for (Dim begin = 0; begin < windows.count(); begin += block) {
    const Dim end = std::min(windows.count(), begin + block);
    const Tensor history = windows.history.narrowed(0, begin, end), truth = windows.future.narrowed(0, begin, end);
    const std::vector<double> error = sub(saved.model->forecast(history, saved.setup.horizon), truth).to_vector();
    const Tensor last = history.narrowed(1, saved.setup.history - 1, saved.setup.history).expanded(truth.shape());
    const std::vector<double> naive_error = sub(last, truth).to_vector();
    for (size_t i = 0; i < error.size(); ++i) {
      squared += error[i] * error[i];
      absolute += std::abs(error[i]);
      naive += naive_error[i] * naive_error[i];
    }
  }
  const auto count = static_cast<double>(windows.future.numel());
  if (o.score.json) {
    print(nlohmann::ordered_json{{"mse", squared / count},
                                 {"mae", absolute / count},
                                 {"naive_mse", naive / count},
                                 {"windows", windows.count()}}
              .dump() +
          "\n");
  } else {
    print(fmt::format(
        "MSE = {:.4f}  MAE = {:.4f} on scaled values, {} windows, none dropped; repeating the last value: MSE {:.4f}\n",
        squared / count, absolute / count, windows.count(), naive / count));
  }
  return 0;
}

int run(const Options& o) {
  const SafeTensors contents = read_safetensors(o.model);
  if (task_of(contents, o.model) == "forecast") return evaluate_forecast(o, forecast_from(contents, o.model));
  if (o.pairs.empty() && (o.source.empty() || o.target.empty())) {
    throw InputError("evaluate: name the text, --source and --target or --pairs");
  }
  return evaluate_translation(o, translation_from(contents, o.model));
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("evaluate", "BLEU, chrF and perplexity (or forecast error) of a model on your data");
  command->add_option("--model", options->model, "Model file")->required();
  command->add_option("--source", options->source, "Text to translate");
  command->add_option("--target", options->target, "Its reference translations");
  command->add_option("--pairs", options->pairs, "Instead: lines of source TAB target");
  command->add_option("--csv", options->csv, "Numbers, for a forecasting model");
  command->add_flag("--replace-invalid", options->replace_invalid, "Put U+FFFD where the text is not UTF-8");
  command->add_option("--hypotheses", options->hypotheses, "Write the translations to this file");
  options->search.add_to(*command);
  options->score.add_to(*command);
  command->footer(
      "Example: glassformer evaluate --model runs/demo/model.safetensors --pairs data/tatoeba-en-zh/test.tsv.gz "
      "--tokenize zh");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
