// The commands of the program. Each adds its options to `app` and what is to be done to `action`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace glass::program {

// Runs the chosen command; the exit status.
using Action = std::function<int()>;

void add_doctor(CLI::App& app, Action& action);
void add_train(CLI::App& app, Action& action);
void add_translate(CLI::App& app, Action& action);
void add_forecast(CLI::App& app, Action& action);
void add_evaluate(CLI::App& app, Action& action);
void add_score(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);

}  // namespace glass::program
