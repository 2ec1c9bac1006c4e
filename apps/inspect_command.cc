#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "glassformer/data/text.h"
#include "glassformer/inspect/model_pictures.h"
#include "glassformer/inspect/trace_file.h"
#include "glassformer/inspect/trace_report.h"
#include "glassformer/inspect/trace_window.h"
#include "glassformer/inspect/training_curves.h"
#include "inspect_page.h"
#include "output.h"

namespace glass::program {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string model, pairs, csv, out, svg, png, stack = "cross", curves, report;
  std::vector<std::string> sources;
  std::optional<std::string> target;
  std::vector<std::string> dump;
  std::optional<Dim> layer, head;
  Dim length = 64, padding = 2;
  PageOptions page;
  bool list = false, gradients = false, operations = false, json = false, positions = false, masks = false;

  bool wants_picture() const { return !svg.empty() || !png.empty(); }
  bool wants_trace() const { return list || !dump.empty(); }
  // Something is said of a picture or a list, so one was meant and forgotten; otherwise the page is.
  bool wants_page() const {
    return !gradients && !operations && !json && csv.empty() && !positions && !masks && !layer && curves.empty();
  }
};

const std::string& model_path(const Options& o) {
  if (o.model.empty()) throw InputError("inspect: name the model, --model FILE");
  return o.model;
}

PairTokens pair_of(const Options& o, const SavedTranslation& saved) {
  if (o.sources.empty()) throw InputError("inspect: give a sentence for the model to read, --source \"…\"");
  if (o.sources.size() > 1) throw InputError("inspect: several sentences are for a --report; here, give one --source");
  return tokens_of_pair(saved, o.sources[0], o.target);
}

Drawing picture(const Options& o) {
  if (!o.curves.empty()) return draw_curves("training, " + o.curves, read_curves(o.curves + "/metrics.jsonl"));
  const SavedTranslation saved = load_translation(model_path(o));
  if (o.positions) return draw_positions(*saved.model, o.length);
  const PairTokens pair = pair_of(o, saved);
  if (o.masks) return draw_masks(pair, o.padding);
  const AttentionKind kind = o.stack == "encoder"   ? AttentionKind::encoder
                             : o.stack == "decoder" ? AttentionKind::decoder
                                                    : AttentionKind::cross;
  return draw_attention(*saved.model, pair, {kind, o.layer, o.head});
}

void write_pictures(const Options& o) {
  const Drawing drawing = picture(o);
  if (!o.svg.empty()) write_file(o.svg, svg_of(drawing));
  if (!o.png.empty()) write_file(o.png, png_of(drawing));
}

TraceOptions trace_options(const Options& o) {
  TraceOptions options;
  if (!o.dump.empty()) options.patterns = o.dump;
  options.gradients = o.gradients;
  options.operations = o.operations;
  options.keep_values = o.pairs.empty();
  return options;
}

// What was run, beside the trace of it.
struct Traced {
  Trace trace;
  std::string input;                                      // in words
  std::vector<std::string> source_pieces, target_pieces;  // of one pair
  double loss = 0;
};

Traced trace_sentences(const Options& o) {
  const SavedTranslation saved = load_translation(model_path(o));
  const PairTokens pair = pair_of(o, saved);
  Traced out{Trace(trace_options(o)), {}, pair.source_pieces, pair.target_pieces};
  out.input =
      fmt::format("source  {}\ntarget  {}", fmt::join(pair.source_pieces, " "), fmt::join(pair.target_pieces, " "));
  out.loss = trace_pair(*saved.model, pair, out.trace);
  return out;
}

Traced trace_pairs(const Options& o) {
  const SavedTranslation saved = load_translation(model_path(o));
  Traced out{Trace(trace_options(o)), {}, {}, {}};
  const ParallelText text = read_tsv_pairs(o.pairs);
  double sum = 0;
  Dim tokens = 0, pairs = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (saved.source->encode(text.source[i]).empty()) continue;
    const PairTokens pair = tokens_of_pair(saved, text.source[i], text.target[i]);
    sum += trace_pair(*saved.model, pair, out.trace) * static_cast<double>(pair.target_output.numel());
    tokens += pair.target_output.numel();
    ++pairs;
  }
  if (pairs == 0) throw InputError("inspect: " + o.pairs + ": no pair has a source to read");
  out.input = fmt::format("{} pairs", pairs);
  out.loss = sum / static_cast<double>(tokens);
  return out;
}

Traced trace_numbers(const Options& o) {
  const SavedForecast saved = load_forecast(model_path(o));
  const Windows window = last_window(saved, read_csv(o.csv, saved.setup.columns));
  Traced out{Trace(trace_options(o)), {}, {}, {}};
  out.input = fmt::format("the last {} rows to read, {} to forecast", saved.setup.history, saved.setup.horizon);
  out.loss = trace_window(*saved.model, window, out.trace);
  return out;
}

Traced traced(const Options& o) {
  return !o.csv.empty() ? trace_numbers(o) : !o.pairs.empty() ? trace_pairs(o) : trace_sentences(o);
}

void require_matches(const Options& o, const Trace& trace) {
  for (const std::string& pattern : o.dump) {
    if (!trace.matching(pattern).empty()) continue;
    throw InputError("inspect: nothing is tapped at \"" + pattern + "\"; --list shows what is" +
                     (o.gradients ? "" : ", and with --gradients the parameters"));
  }
}

std::string json_text(const std::vector<std::string>& pieces) {
  return Json(pieces).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write_trace(const Options& o, const Traced& t) {
  SafeTensors contents = trace_contents(t.trace);
  contents.metadata["source_pieces"] = json_text(t.source_pieces);
  contents.metadata["target_pieces"] = json_text(t.target_pieces);
  write_safetensors(o.out, contents);
  say(fmt::format("{} tensors written to {}", contents.tensors.size(), o.out));
}

std::string list_text(const Traced& t) {
  return fmt::format("{}\nloss    {:.4f}\n\n", t.input, t.loss) + trace_text(t.trace);
}

std::string list_json(const Traced& t) {
  Json json{{"input", t.input}, {"loss", t.loss}, {"source", t.source_pieces}, {"target", t.target_pieces}};
  json["tensors"] = Json::parse(trace_json(t.trace));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void show_trace(const Options& o) {
  if (!o.dump.empty() && o.out.empty())
    throw InputError("inspect: --dump writes a file; name it with --out FILE.safetensors");
  if (!o.out.empty() && o.dump.empty())
    throw InputError("inspect: --out is the file of a --dump; say what, as --dump 'decoder.*.scores', or '*' for all");
  const Traced t = traced(o);
  require_matches(o, t.trace);
  if (!o.out.empty()) write_trace(o, t);
  if (o.json) {
    print(list_json(t));
  } else if (o.list) {
    print(list_text(t));
  }
}

int show_page(const Options& o) {
  PageOptions page = o.page;
  page.model = o.model;
  page.sources = o.sources;
  page.target = o.target;
  return o.report.empty() ? serve_page(page) : write_report(page, o.report);
}

int run(const Options& o) {
  if (!o.wants_picture() && !o.wants_trace()) {
    if (o.wants_page()) return show_page(o);
    throw InputError(
        "inspect: say what to show: --list, --dump PATTERN --out FILE, --svg FILE or --png FILE; see --help");
  }
  if (o.wants_trace()) show_trace(o);
  if (o.wants_picture()) write_pictures(o);
  return 0;
}

void add_tensor_options(CLI::App& command, Options& o) {
  CLI::Option* list = command.add_flag(
      "--list", o.list, "Each tensor's path, type, shape, min, max, mean, deviation, non-finite numbers");
  CLI::Option* dump =
      command.add_option("--dump", o.dump, "Write the tensors at these paths; * is any characters, ? is one")
          ->expected(1, 1000);
  command.add_option("--out", o.out, "File for --dump, safetensors");
  command.add_flag("--gradients", o.gradients, "Also of the loss: of tapped tensors and of parameters, as PATH.grad");
  command.add_flag("--operations", o.operations,
                   "Also the output of every single operation, by the module that calls it");
  command.add_option("--pairs", o.pairs, "With --list: running statistics over a file of lines source TAB target")
      ->needs(list)
      ->excludes(dump);
  command.add_option("--csv", o.csv, "Numbers for a forecasting model, which reads their last window")
      ->excludes("--pairs");
  command.add_flag("--json", o.json, "As JSON");
}

void add_page_options(CLI::App& command, Options& o) {
  command.add_option("--run", o.page.run, "Also the run in this folder: its curves, live while it goes on");
  command.add_option("--host", o.page.host, "Address the page is at; others than this machine's own let others in")
      ->capture_default_str();
  command.add_option("--port", o.page.port, "Its port; 0 for any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command.add_option("--report", o.report, "Write the page with all it needs into this HTML file, and serve nothing");
}

void add_picture_options(CLI::App& command, Options& o) {
  command.add_option("--svg", o.svg, "Draw a picture to this file: of attention, unless an option says of what");
  command.add_option("--png", o.png, "The same as dots, without its words");
  command.add_option("--stack", o.stack, "Whose attention: encoder | decoder | cross")
      ->check(CLI::IsMember({"encoder", "decoder", "cross"}))
      ->capture_default_str();
  CLI::Option* layer = command.add_option("--layer", o.layer, "Only this layer, from 0; from the last one if negative");
  command.add_option("--head", o.head, "Only this head of it")->needs(layer);
  CLI::Option* positions = command.add_flag("--positions", o.positions, "Draw the position encoding");
  command.add_option("--length", o.length, "Positions to draw")
      ->check(CLI::Range(1, 1 << 14))
      ->needs(positions)
      ->capture_default_str();
  CLI::Option* masks =
      command.add_flag("--masks", o.masks, "Draw the masks of the three attentions")->excludes(positions);
  command.add_option("--padding", o.padding, "Tokens of padding in the masks")
      ->check(CLI::Range(0, 1 << 10))
      ->needs(masks)
      ->capture_default_str();
  command.add_option("--curves", o.curves, "Draw loss, BLEU and learning rate of the run in this folder")
      ->excludes(positions)
      ->excludes(masks);
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "inspect", "See a model at work: a page in the browser, or any tensor as numbers, file or picture");
  command->add_option("--model", options->model, "Model file; page and pictures are of translation models");
  command->add_option("--source", options->sources, "The sentence it reads; for a report, may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--target", options->target, "What it writes (default: its own translation)");
  add_page_options(*command, *options);
  add_tensor_options(*command, *options);
  add_picture_options(*command, *options);
  command->footer(
      "Without --list, --dump or a picture, the page is served until Ctrl-C.\n\n"
      "Examples:\n"
      "  glassformer inspect --model m.safetensors --source \"A dog runs.\"\n"
      "  glassformer inspect --model m.safetensors --source \"A dog runs.\" --report dog.html\n"
      "  glassformer inspect --model m.safetensors --source \"A dog runs.\" --list --gradients\n"
      "  glassformer inspect --model m.safetensors --source \"A dog runs.\" --dump 'decoder.*.scores' --out "
      "t.safetensors\n"
      "  glassformer inspect --model m.safetensors --source \"A dog runs.\" --stack cross --layer -1 --svg heads.svg\n"
      "  glassformer inspect --curves runs/demo --svg curves.svg");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
