#include "glassformer/inspect/finding.h"

#include <algorithm>
#include <utility>

namespace glass {

namespace {

// What each fault brings with it, causes before consequences.
const std::vector<std::pair<std::string, std::vector<std::string>>>& consequences() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> table{
      {"heads split", {"future leak", "padding leak", "norm axes"}},
      {"norm axes",
       {"future leak", "padding leak", "first loss", "norm place", "examples mix", "mask broadcast", "no positions"}},
      {"examples mix", {"mask broadcast", "padding leak", "norm place", "no positions"}},
      {"mask broadcast", {"padding leak", "mask reversed", "shapes"}},
      {"mask reversed", {"future leak", "padding leak", "mask broadcast", "no positions", "deadlocked attention"}},
      {"residual", {"norm place", "norm axes", "gradient flow", "no positions", "deadlocked attention", "first loss"}},
      {"norm place", {"gradient flow", "first loss"}},
      {"twins", {"initial scale", "redundant heads"}},
      {"initial scale",
       {"first loss", "deadlocked attention", "gradient flow", "embedding scale", "no gradient", "norm axes",
        "learning rate", "no warm-up"}},
      {"score scale", {"deadlocked attention", "no gradient", "no positions", "redundant heads"}},
      {"gradient flow", {"first loss", "deadlocked attention", "no gradient"}},
      {"targets unshifted", {"first loss"}},
      {"learning rate", {"no warm-up"}},
      {"update size", {"learning rate", "no warm-up", "divergence", "loss spikes", "exploding gradients"}},
      {"divergence", {"loss spikes", "exploding gradients"}},
      {"loss spikes", {"exploding gradients"}},
      {"split leak", {"duplicates"}}};
  return table;
}

Finding* find(Findings& findings, const std::string& check) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.check == check; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace

Findings without_consequences(Findings findings) {
  for (const auto& [cause, effects] : consequences()) {
    for (const std::string& effect : effects) {
      Finding* source = find(findings, cause);
      if (source == nullptr || find(findings, effect) == nullptr) continue;
      source->also.push_back(effect);
      std::erase_if(findings, [&](const Finding& f) { return f.check == effect; });
    }
  }
  return findings;
}

bool has_faults(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::fault; });
}

}  // namespace glass
