#include "inspect/answers.h"

namespace glass {

namespace {

const char* state_name(SearchCandidate::State state) {
  switch (state) {
    case SearchCandidate::State::live:
      return "live";
    case SearchCandidate::State::finished:
      return "finished";
    case SearchCandidate::State::pruned:
      break;
  }
  return "pruned";
}

const char* norm_name(LengthNorm norm) {
  return norm == LengthNorm::none ? "none" : norm == LengthNorm::average ? "average" : "gnmt";
}

Json node_json(const Vocabulary& vocabulary, const BeamNode& node, size_t id) {
  const SearchCandidate& c = node.candidate;
  return {{"id", id},
          {"parent", node.parent},
          {"step", node.step},
          {"token", c.token},
          {"piece", vocabulary.piece(c.token)},
          {"log_p", json_number(static_cast<double>(c.log_probability))},
          {"total", json_number(c.total)},
          {"divisor", node.length_divisor},
          {"score", json_number(c.total / node.length_divisor)},
          {"state", state_name(c.state)}};
}

}  // namespace

Answer answer_beam(const SavedTranslation& saved, const PairRecord& record) {
  if (!record.beam) refuse_unknown("this trace did not search: its target was given");
  const BeamResult& beam = *record.beam;
  Json json{{"beam", beam.options.beam}, {"length_norm", norm_name(beam.options.length_norm)}};
  json["alpha"] = beam.options.alpha;
  json["nodes"] = Json::array();
  const std::vector<BeamNode>& nodes = beam.record.nodes();
  for (size_t id = 0; id < nodes.size(); ++id) json["nodes"].push_back(node_json(*saved.target, nodes[id], id));
  json["best"] = Json::array();
  for (const Hypothesis& best : beam.best) {
    json["best"].push_back({{"text", saved.target->decode(best.tokens)},
                            {"score", json_number(best.score)},
                            {"log_probability", json_number(best.log_probability)},
                            {"divisor", best.length_divisor},
                            {"complete", best.complete},
                            {"nodes", beam.record.nodes_of(best)}});
  }
  return json_answer(json);
}

}  // namespace glass
