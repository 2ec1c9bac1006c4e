#include <cstdlib>
#include <fstream>

#include "commands.h"
#include "glassformer/inspect/explain_report.h"
#include "glassformer/inspect/heat_map.h"
#include "output.h"

namespace glass::program {

namespace {

struct Options {
  std::string text, model, attention = "cross", mask = "none", color = "auto", svg;
  std::optional<std::string> target;
  Dim d_model = 8, heads = 2, layer = -1, head = 0;
  uint64_t seed = 1;
  int step = 0;
  bool no_scale = false, all = false, json = false;
};

bool wants_color(const std::string& choice) {
  if (choice != "auto") return choice == "always";
  const char* none = std::getenv("NO_COLOR");  // no-color.org
  return isatty(STDOUT_FILENO) != 0 && (none == nullptr || *none == '\0');
}

AttentionExplanation explanation(const Options& o) {
  if (o.model.empty()) {
    FreshAttention fresh{o.d_model, o.heads, o.seed, {}, {}};
    if (o.no_scale) fresh.scale = AttentionScale::none();
    if (o.mask == "causal") fresh.mask = AttentionMask::causal();
    return explain_fresh(o.text, fresh, o.head);
  }
  const AttentionKind kind = o.attention == "encoder"   ? AttentionKind::encoder
                             : o.attention == "decoder" ? AttentionKind::decoder
                                                        : AttentionKind::cross;
  return explain_model(load_translation(o.model), o.text, o.target, kind, o.layer, o.head);
}

void write_picture(const std::string& path, const AttentionExplanation& e) {
  std::vector<HeadMatrix> matrices;
  for (const HeadMatrix& matrix : e.steps) {
    if (matrix.step == 2 || matrix.step == 3) matrices.push_back(matrix);
  }
  const std::string svg =
      heat_maps_svg(fmt::format("{}{}head {} of {}", e.path, e.path.empty() ? "" : ", ", e.head, e.heads), matrices);
  write_file(path, svg);
}

int run(const Options& o) {
  const AttentionExplanation e = explanation(o);
  if (!o.svg.empty()) write_picture(o.svg, e);
  print(o.json ? explanation_json(e, o.step) + "\n"
               : explanation_text(e, {wants_color(o.color), o.step, o.all ? 0 : ExplainTextOptions().most_columns}));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("explain", "Attention step by step, with every shape and number");
  command->add_option("text", options->text, "Words; with --model, the source sentence")->required();
  command->add_option("target", options->target, "With --model: what it translates to (default: its own translation)");
  CLI::Option* model = command->add_option("--model", options->model, "A translation model instead of fresh weights");
  command->add_option("--attention", options->attention, "Of the model: encoder | decoder | cross")
      ->check(CLI::IsMember({"encoder", "decoder", "cross"}))
      ->needs(model)
      ->capture_default_str();
  command->add_option("--layer", options->layer, "Of the model, from 0; from the last one if negative")
      ->needs(model)
      ->capture_default_str();
  command->add_option("--head", options->head, "From 0; from the last one if negative")->capture_default_str();
  command
      ->add_option("--step", options->step, "Only this one: 1 project, 2 scores, 3 softmax, 4 weighted sum; 0 for all")
      ->check(CLI::Range(0, 4))
      ->capture_default_str();
  std::vector<CLI::Option*> fresh_only = {
      command->add_option("--d-model", options->d_model, "Width D of fresh weights")
          ->check(CLI::Range(1, 4096))
          ->capture_default_str(),
      command->add_option("--heads", options->heads, "Heads H of fresh weights")
          ->check(CLI::Range(1, 4096))
          ->capture_default_str(),
      command->add_option("--seed", options->seed, "Of fresh weights")->capture_default_str(),
      command->add_flag("--no-scale", options->no_scale, "Leave out 1/sqrt(K), to see what it is for"),
      command->add_option("--mask", options->mask, "none | causal")
          ->check(CLI::IsMember({"none", "causal"}))
          ->capture_default_str()};
  for (CLI::Option* option : fresh_only) option->excludes(model);
  command->add_flag("--all", options->all, "All columns of wide matrices");
  command->add_option("--color", options->color, "auto | always | never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "As JSON");
  command->add_option("--svg", options->svg, "Write scores and weights as a picture to this file");
  command->footer("Example: glassformer explain \"cat sat mat\" --mask causal");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
