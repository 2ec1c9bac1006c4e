// glassformer: the program. One command a file; here are the top level and the exit codes.
#include <csignal>

#include "commands.h"
#include "glassformer/base/isa.h"
#include "glassformer/base/threads.h"
#include "output.h"
#include "version.h"

namespace glass::program {
namespace {

constexpr int failure = 1, bad_input = 2;

// A first word that is no command is said by name.
std::string parse_error_text(const CLI::App& app, const CLI::Error& error, const std::string& first) {
  const bool is_word = !first.empty() && first[0] != '-';
  if (!is_word || !app.get_subcommands().empty() || error.get_exit_code() == 0) {
    return std::string("glassformer: ") + error.what() + "; see --help\n";
  }
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) known += (known.empty() ? "" : ", ") + command->get_name();
  return "glassformer: there is no command \"" + first + "\"; there are " + known + "\n";
}

int run(int argc, char** argv) {
  CLI::App app("Trains, runs and explains Transformers on ordinary CPUs.", "glassformer");
  app.set_version_flag("--version", version_text, "Version, instruction set, threads and libraries");
  app.require_subcommand(1);
  app.footer(
      "`glassformer COMMAND --help` shows the options of a command and an example.\n"
      "GLASSFORMER_ISA=generic|avx2|avx512|amx forces an instruction set.");
  int thread_count = 0;
  app.add_option("--threads", thread_count, "Threads to use (default: the cores there are)")
      ->check(CLI::Range(1, 4096));
  app.fallthrough();
  app.failure_message([first = std::string(argc > 1 ? argv[1] : "")](const CLI::App* parsed, const CLI::Error& error) {
    return parse_error_text(*parsed, error, first);
  });
  Action action;
  add_train(app, action);
  add_translate(app, action);
  add_forecast(app, action);
  add_evaluate(app, action);
  add_score(app, action);
  add_info(app, action);
  add_explain(app, action);
  add_bench(app, action);
  add_doctor(app, action);
  add_inspect(app, action);
  add_verify(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_input;
  }
  if (thread_count > 0) set_threads(thread_count);
  isa();  // a wrong GLASSFORMER_ISA is said before any work
  const int status = action();
  flush_output();
  return status;
}

int guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const BrokenPipe&) {
    return 0;
  } catch (const InputError& error) {
    say(std::string("glassformer: ") + error.what());
    return bad_input;
  } catch (const std::bad_alloc&) {
    say("glassformer: out of memory; use a smaller batch or model");
  } catch (const std::exception& error) {
    say(std::string("glassformer: ") + error.what());
  }
  return failure;
}

}  // namespace
}  // namespace glass::program

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writes then fail with EPIPE, which output.h turns into a quiet end
  return glass::program::guarded(argc, argv);
}
