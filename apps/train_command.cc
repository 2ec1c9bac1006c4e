#include <charconv>
#include <csignal>

#include "commands.h"
#include "glassformer/train/recipe.h"
#include "glassformer/train/trainer.h"
#include "live_page.h"
#include "output.h"
#include "progress.h"
#include "train_doctor.h"

namespace glass::program {

namespace {

struct Options {
  std::string recipe, directory = "runs/last", doctor = "on", inspect;
  std::vector<std::string> settings;
  bool resume = false, replace_invalid = false, show_keys = false;
};

std::atomic<bool> stop_requested{false};

void request_stop(int /*signal*/) { stop_requested = true; }

// Ctrl-C and SIGTERM save a checkpoint and end the run; a second Ctrl-C ends the program at once.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::string keys_help() {
  std::string text;
  Recipe defaults;
  for (const RecipeKey& key : recipe_keys()) {
    std::string choices;
    for (const std::string& choice : key.choices) choices += (choices.empty() ? " (" : " | ") + choice;
    text += fmt::format("{:28} {}{}{}\n", key.path(), key.help, choices, choices.empty() ? "" : ")");
  }
  return text + "\nThe defaults, as a recipe:\n\n" + recipe_text(defaults);
}

Recipe make_recipe(const Options& o) {
  if (!o.recipe.empty() && o.resume)
    throw InputError("train: --resume goes on with the run's own recipe; name no other");
  Recipe recipe = o.resume ? recipe_of_run(o.directory) : o.recipe.empty() ? Recipe() : read_recipe(o.recipe);
  for (const std::string& setting : o.settings) set_in_recipe(recipe, setting);
  if (o.replace_invalid) recipe.data.replace_invalid = true;
  return recipe;
}

// Of --inspect=PORT; none if it was not asked for.
std::optional<int> port_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 0 || port > 65535)
    throw InputError("train: --inspect=" + text + ": a port is a number from 0 to 65535");
  return port;
}

int run(const Options& o) {
  if (o.show_keys) {
    print(keys_help());
    return 0;
  }
  const std::optional<int> page_port = port_of(o.inspect);
  const Recipe recipe = make_recipe(o);
  catch_signals();
  ProgressView plain;
  TrainDoctor watching(recipe);
  TrainOptions options{o.directory, o.resume, &stop_requested};
  const bool watch = o.doctor == "on";
  if (watch) options.before_first_update = [&](Module& model) { watching.look_at(model); };
  ProgressView& view = watch ? watching : plain;
  LivePage page(view, o.directory, page_port);
  const TrainResult result = train(recipe, options, page);
  if (result.reason == StopReason::requested) {
    view.on_note(
        fmt::format("stopped at step {}; go on with: glassformer train --resume --out {}", result.step, o.directory));
    return 0;
  }
  view.on_note(fmt::format("{} after {} updates, {:.1f} minutes of training; the model is {}",
                           result.reason == StopReason::patience ? "no further improvement" : "done", result.step,
                           result.training_seconds / 60, result.model_choice));
  print(result.model_path + "\n");
  return 0;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("train", "Train a model by a recipe");
  command->add_option("recipe", options->recipe, "Recipe file (TOML); without one, defaults and --set");
  command->add_option("--set", options->settings, "section.key=value, over the recipe; may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--out", options->directory, "Folder of the run")->capture_default_str();
  command->add_flag("--resume", options->resume, "Go on with the run in --out, exactly where its checkpoint is");
  command->add_flag("--replace-invalid", options->replace_invalid, "Put U+FFFD where text is not UTF-8");
  command->add_option("--doctor", options->doctor, "on | off: look at the fresh model, and at the history as it grows")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command->add_flag(
      "--inspect{8642}", options->inspect,
      "Show the run's curves as they grow on a page in the browser; --inspect=PORT for another port, 0 for "
      "any that is free");
  command->add_flag("--keys", options->show_keys, "List all keys of a recipe with their defaults");
  command->footer("Example: glassformer train recipes/demo.toml --out runs/demo");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
