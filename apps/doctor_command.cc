#include "commands.h"
#include "glassformer/inspect/doctor_files.h"
#include "glassformer/inspect/finding_report.h"
#include "output.h"

namespace glass::program {

namespace {

constexpr int healthy = 0, with_findings = 3;

struct Options {
  std::string recipe, model, source, target, run;
  std::vector<std::string> settings;
  bool skip_learning = false, json = false;
};

Findings findings(const Options& o) {
  const int given = !o.model.empty() + !o.run.empty() + (!o.recipe.empty() || !o.settings.empty());
  if (given != 1) throw InputError("doctor: name one of RECIPE.toml (or --set), --model and --run");
  if (!o.model.empty()) return diagnose_model(o.model, o.source, o.target);
  if (!o.run.empty()) return diagnose_run(o.run);
  Recipe recipe = o.recipe.empty() ? Recipe() : read_recipe(o.recipe);
  for (const std::string& setting : o.settings) set_in_recipe(recipe, setting);
  return diagnose_recipe(recipe, !o.skip_learning, [](const std::string& text) { say(text); });
}

int run(const Options& o) {
  const Findings found = findings(o);
  print(o.json ? findings_json(found) + "\n" : findings_text(found));
  return has_faults(found) ? with_findings : healthy;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("doctor", "Say what is wrong with a recipe, a model or a run");
  command->add_option("recipe", options->recipe, "Recipe file (TOML): its data and the fresh model, before training");
  command->add_option("--set", options->settings, "section.key=value, over the recipe; may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--skip-learning", options->skip_learning, "Do not try to learn a small batch by heart");
  CLI::Option* model = command->add_option("--model", options->model, "Model file, trained");
  CLI::Option* source = command->add_option("--source", options->source, "Lines for the model to read");
  CLI::Option* target = command->add_option("--target", options->target, "Their translations");
  source->needs(model, target);
  target->needs(source);
  command->add_option("--run", options->run, "Folder of a run: its history and its model");
  command->add_flag("--json", options->json, "As JSON");
  command->footer(
      "Exit status: 0 healthy (notes are no faults), 3 faults found, 2 wrong usage or input, 1 failed.\n"
      "Example: glassformer doctor recipes/tatoeba-en-zh.toml");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
