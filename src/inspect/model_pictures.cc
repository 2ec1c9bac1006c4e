#include "glassformer/inspect/model_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/inspect/heat_map_grid.h"

namespace glass {

namespace {

using Names = std::vector<std::string>;

constexpr int alone = 480, of_a_layer = 200, of_all = 120, of_mask = 260;  // the side of a map, in pixels

// One of the three attentions of a model.
struct Stack {
  const char* name;
  std::vector<const MultiHeadAttention*> layers;
  const Names &queries, &keys;
  AttentionMask mask;  // the only pair has no padding
};

Stack stack_of(const TranslationModel& model, const PairTokens& pair, AttentionKind kind) {
  std::vector<const MultiHeadAttention*> layers;
  if (kind == AttentionKind::encoder) {
    for (const EncoderLayer& layer : model.encoder.layers) layers.push_back(&layer.self_attn);
    return {"encoder self-attention", layers, pair.source_pieces, pair.source_pieces, {}};
  }
  const bool self = kind == AttentionKind::decoder;
  for (const DecoderLayer& layer : model.decoder.layers) layers.push_back(self ? &layer.self_attn : &layer.cross_attn);
  if (self) return {"decoder self-attention", layers, pair.target_pieces, pair.target_pieces, AttentionMask::causal()};
  return {"cross-attention", layers, pair.target_pieces, pair.source_pieces, {}};
}

Dim checked_place(const char* what, Dim place, size_t count) {
  const Dim from_start = place < 0 ? place + static_cast<Dim>(count) : place;
  if (from_start >= 0 && from_start < static_cast<Dim>(count)) return from_start;
  throw InputError(fmt::format("inspect: there is no {} {}; the model has {}, counted from 0", what, place, count));
}

// bool [rows,columns] of one example and head; undefined if the mask allows all.
Tensor allowed_by(const AttentionMask& mask, Dim rows, Dim columns) {
  const Tensor keep = mask.keep({1, 1, rows, columns, 0});  // [1,1,T or 1,S]
  return keep.defined() ? keep.expanded({1, 1, rows, columns}).contiguous().reshaped({rows, columns}) : Tensor();
}

HeatMap head_map(const Stack& stack, const Trace& trace, size_t layer, Dim head) {
  const Tensor& weights = trace.at(stack.layers[layer]->path() + ".weights");  // [1,H,T,S]
  const Dim rows = weights.size(2), columns = weights.size(3);
  HeatMap map;
  map.values = weights.narrowed(1, head, head + 1).contiguous().reshaped({rows, columns});
  map.allowed = allowed_by(stack.mask, rows, columns);
  return map;
}

void name_sides(const Stack& stack, bool rows, bool columns, HeatMap& map) {
  if (rows) map.rows = stack.queries;
  if (columns) map.columns = stack.keys;
}

constexpr const char* how_to_read = "queries down, keys across; a row shows where its token looks, and adds up to 1";

Drawing draw_head(const Stack& stack, const Trace& trace, size_t layer, Dim head) {
  HeatMap map = head_map(stack, trace, layer, head);
  name_sides(stack, true, true, map);
  return draw_heat_maps({fmt::format("{}, layer {}, head {}", stack.name, layer, head), how_to_read, {}, {{map}}},
                        alone);
}

// Eight heads then fill two rows, as wide as a page.
constexpr Dim most_in_a_row = 4;

Drawing draw_layer(const Stack& stack, const Trace& trace, size_t layer) {
  HeatMapGrid grid{fmt::format("{}, layer {}", stack.name, layer), how_to_read, {}, {}};
  for (Dim head = 0; head < stack.layers[layer]->heads; ++head) {
    HeatMap map = head_map(stack, trace, layer, head);
    map.title = fmt::format("head {}", head);
    if (head % most_in_a_row == 0) grid.maps.emplace_back();
    name_sides(stack, head % most_in_a_row == 0, head < most_in_a_row, map);
    grid.maps.back().push_back(map);
  }
  return draw_heat_maps(grid, of_a_layer);
}

Drawing draw_stack(const Stack& stack, const Trace& trace) {
  HeatMapGrid grid{fmt::format("{}, all layers and heads", stack.name),
                   std::string("panels are layer.head; ") + how_to_read,
                   {},
                   {}};
  for (size_t layer = 0; layer < stack.layers.size(); ++layer) {
    grid.maps.emplace_back();
    for (Dim head = 0; head < stack.layers[layer]->heads; ++head) {
      HeatMap map = head_map(stack, trace, layer, head);
      map.title = fmt::format("{}.{}", layer, head);
      name_sides(stack, head == 0, layer == 0, map);
      grid.maps.back().push_back(map);
    }
  }
  return draw_heat_maps(grid, of_all);
}

Tensor encoding_of(const PositionScheme& positions, Dim length, Dim d_model) {
  const NoGrad values_only;
  try {
    return positions.embed(Tensor::zeros({1, length, d_model}), 0).contiguous().reshaped({length, d_model});
  } catch (const ValueError& error) {
    throw InputError(error.what());
  }
}

// A pair of columns turns once in 2π·10000^(2i/D) positions (Vaswani et al., 2017, section 3.5).
Names wavelength_names(Dim d_model) {
  constexpr Dim named = 12;
  Names names(static_cast<size_t>(d_model));
  const Dim distance = std::max<Dim>(2, d_model / named / 2 * 2);
  for (Dim column = 0; column < d_model; column += distance) {
    const double exponent = static_cast<double>(column) / static_cast<double>(d_model);
    const double wavelength = 2 * std::numbers::pi * std::pow(10000.0, exponent);
    names[static_cast<size_t>(column)] =
        "λ " + fmt::format(fmt::runtime(wavelength < 100 ? "{:.3g}" : "{:.0f}"), wavelength);
  }
  return names;
}

HeatMap position_map(const std::string& title, const Tensor& encoding, bool sinusoidal) {
  HeatMap map;
  map.title = title;
  map.values = encoding;
  const Dim every = std::max<Dim>(1, encoding.size(0) / 16);
  for (Dim i = 0; i < encoding.size(0); ++i) map.rows.push_back(i % every == 0 ? std::to_string(i) : std::string());
  if (sinusoidal) map.columns = wavelength_names(encoding.size(1));
  return map;
}

HeatMap mask_map(const std::string& title, const AttentionMask& mask, const Names& queries, const Names& keys) {
  HeatMap map;
  map.title = title;
  map.rows = queries;
  map.columns = keys;
  const Dim rows = static_cast<Dim>(queries.size()), columns = static_cast<Dim>(keys.size());
  map.values = Tensor::full({rows, columns}, 1);
  map.allowed = allowed_by(mask, rows, columns);
  return map;
}

}  // namespace

Drawing draw_attention(const TranslationModel& model, const PairTokens& pair, const HeadChoice& choice) {
  const Stack stack = stack_of(model, pair, choice.kind);
  std::optional<size_t> layer;
  std::optional<Dim> head;
  if (choice.layer) layer = static_cast<size_t>(checked_place("layer", *choice.layer, stack.layers.size()));
  if (choice.head && !layer) throw InputError("inspect: a head is one of a layer; name the layer too");
  if (choice.head) head = checked_place("head", *choice.head, static_cast<size_t>(stack.layers[*layer]->heads));
  Trace trace({.patterns = {"*_attn.weights"}});
  trace_pair(model, pair, trace);
  return head    ? draw_head(stack, trace, *layer, *head)
         : layer ? draw_layer(stack, trace, *layer)
                 : draw_stack(stack, trace);
}

Drawing draw_positions(const TranslationModel& model, Dim length) {
  const TransformerConfig& config = model.config;
  const Tensor encoder = encoding_of(*model.encoder_positions, length, config.d_model);
  const Tensor decoder = encoding_of(*model.decoder_positions, length, config.d_model);
  const bool sinusoidal = config.positions == PositionKind::sinusoidal,
             same = encoder.to_vector() == decoder.to_vector();
  HeatMapGrid grid{fmt::format("{} positions, {}", sinusoidal ? "sinusoidal" : "learned", encoder.shape().text()),
                   "positions down, columns of the embedding across",
                   ColorScale::signed_,
                   {}};
  if (sinusoidal) grid.caption += "; λ is a column's wavelength in positions";
  grid.maps.push_back({position_map(same ? "" : "encoder", encoder, sinusoidal)});
  if (!same) grid.maps.push_back({position_map("decoder", decoder, sinusoidal)});
  return draw_heat_maps(grid, static_cast<int>(std::clamp<Dim>(2 * config.d_model, alone, 2 * alone)), false);
}

Drawing draw_masks(const PairTokens& pair, Dim padding) {
  if (padding < 0) throw InputError(fmt::format("inspect: a padding of {} tokens", padding));
  const auto padded = [&](Names names) {
    names.resize(names.size() + static_cast<size_t>(padding), "<pad>");
    return names;
  };
  const Names source = padded(pair.source_pieces), target = padded(pair.target_pieces);
  const AttentionMask lengths = AttentionMask::lengths(pair.source_lengths);
  HeatMapGrid grid{"masks: which keys a query may attend to", "queries down, keys across", ColorScale::mask, {}};
  grid.maps.push_back({mask_map("encoder: padding", lengths, source, source),
                       mask_map("decoder: causal", AttentionMask::causal(), target, target),
                       mask_map("cross: padding of the source", lengths, target, source)});
  return draw_heat_maps(grid, of_mask);
}

}  // namespace glass
