#include <unistd.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "glassformer/data/text.h"
#include "output.h"
#include "translate_options.h"

namespace glass::program {

namespace {

struct Options {
  std::string model, input;
  SearchFlags search;
  bool replace_invalid = false, json = false, with_scores = false;
};

// "LINE ||| TEXT ||| score S = log p P / length L ||| N tokens", a line for each hypothesis
std::string nbest_lines(int64_t line, const Translation& translation) {
  std::string out;
  if (translation.nbest.empty()) return fmt::format("{} |||  ||| a blank line ||| 0 tokens\n", line);
  for (size_t i = 0; i < translation.nbest.size(); ++i) {
    const Hypothesis& h = translation.nbest[i];
    out += fmt::format("{} ||| {} ||| score {:.4f} = log p {:.4f} / length {:.4f} ||| {} tokens{}\n", line,
                       translation.texts[i], h.score, h.log_probability, h.length_divisor,
                       h.token_log_probabilities.size(), h.complete ? "" : ", cut at the longest length");
  }
  return out;
}

std::string json_line(int64_t line, const std::string& source, const Translation& translation) {
  nlohmann::ordered_json json{{"line", line}, {"source", source}, {"translation", translation.text}};
  json["hypotheses"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < translation.nbest.size(); ++i) {
    const Hypothesis& h = translation.nbest[i];
    json["hypotheses"].push_back({{"text", translation.texts[i]},
                                  {"score", h.score},
                                  {"log_probability", h.log_probability},
                                  {"length_divisor", h.length_divisor},
                                  {"token_log_probabilities", h.token_log_probabilities},
                                  {"complete", h.complete}});
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// A line break of another kind inside a translation would break the alignment of lines.
std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

int run(const Options& o) {
  const Translator translator = Translator::load(o.model, weights_from_name(o.search.weights));
  const InvalidUtf8 invalid = o.replace_invalid ? InvalidUtf8::replace : InvalidUtf8::error;
  auto reader = o.input.empty() || o.input == "-"
                    ? std::make_unique<LineReader>(STDIN_FILENO, "standard input", invalid)
                    : std::make_unique<LineReader>(o.input, invalid);
  int64_t line = 0, cut = 0;
  constexpr size_t block = 512;
  translate_stream(translator, *reader, o.search.options(), block,
                   [&](const std::vector<std::string>& sources, const std::vector<Translation>& translations) {
                     for (size_t i = 0; i < translations.size(); ++i) {
                       ++line;
                       cut += translations[i].source_was_cut;
                       print(o.json          ? json_line(line, sources[i], translations[i])
                             : o.with_scores ? nbest_lines(line, translations[i])
                                             : on_one_line(translations[i].text) + "\n");
                     }
                     flush_output();
                   });
  if (cut > 0)
    say(fmt::format(
        "{} lines were longer than {} tokens and were cut (--max-source{})", cut,
        longest_source(translator.saved().model->config, o.search.max_source),
        translator.saved().model->config.positions == PositionKind::learned ? ", and the model's positions" : ""));
  return 0;
}

}  // namespace

void add_translate(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("translate", "Translate lines: one out for each one in, in order");
  command->add_option("input", options->input, "Text file, plain or .gz (default: standard input)");
  command->add_option("--model", options->model, "Model file")->required();
  options->search.add_to(*command);
  CLI::Option* nbest = command->add_option("--nbest", options->search.nbest,
                                           "Print so many hypotheses with their scores (at most --beam)");
  nbest->check(CLI::Range(1, 1000));
  command->add_flag("--replace-invalid", options->replace_invalid, "Put U+FFFD where the input is not UTF-8");
  command->add_flag("--json", options->json, "One JSON object a line");
  command->footer("Example: echo \"I like tea.\" | glassformer translate --model runs/demo/model.safetensors --beam 4");
  command->callback([options, nbest, &action] {
    options->with_scores = nbest->count() > 0;
    action = [options] {
      if (options->search.nbest > options->search.beam) throw InputError("translate: --nbest is at most --beam");
      return run(*options);
    };
  });
}

}  // namespace glass::program
