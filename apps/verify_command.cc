#include "commands.h"
#include "glassformer/inspect/verify.h"
#include "output.h"

namespace glass::program {

namespace {

constexpr int differences_found = 3;

struct Options {
  std::string trace, reference;
  Tolerance tolerance;
  bool json = false;
};

int run(const Options& o) {
  const VerifyReport report =
      verify(read_safetensors(o.trace), o.trace, read_safetensors(o.reference), o.reference, o.tolerance);
  print(o.json ? verify_json(report) + "\n" : verify_text(report));
  return report.agrees() ? 0 : differences_found;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Compares a trace with a reference, as PyTorch writes it");
  command->add_option("trace", options->trace, "What `glassformer inspect --dump … --out` wrote")->required();
  command->add_option("reference", options->reference, "The same names, as safetensors.torch.save_file writes them")
      ->required();
  command->add_option("--rtol", options->tolerance.rtol, "Allowed: atol + rtol x the reference's size")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--atol", options->tolerance.atol, "Allowed in any case")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "As JSON");
  command->footer(
      "Exit status: 0 if all that the reference holds agrees, 3 if something differs or is missing, 2 for bad input.\n"
      "Example: glassformer verify trace.safetensors pytorch.safetensors --rtol 1e-4 --atol 1e-5");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
