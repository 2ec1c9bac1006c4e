// The architecture as boxes on lines, bottom to top, as Figure 1 of "Attention Is All You Need" has it: from the
// model's own modules and configuration, with the norms where this model has them.
import type { Place } from './selection';
import type { Config, Module } from './types';

export type BoxKind = 'embedding' | 'attention' | 'norm' | 'feed_forward' | 'linear' | 'softmax' | 'add' | 'position';

export interface Box {
  kind: BoxKind;
  title: string;
  detail: string;       // sizes, in words
  path: string | null;  // of its module
  shape: string;        // of what leaves it upward
  place: Place | null;  // where a click leads
  residualFrom?: number;  // the sum takes what entered this box, too
  inStack: boolean;
  memory?: boolean;     // keys and values come from the encoder
}

const find = (module: Module, path: string): Module | null => {
  if (module.path === path) return module;
  for (const child of module.children) {
    if (path === child.path || path.startsWith(`${child.path}.`)) return find(child, path);
  }
  return null;
};

export const moduleAt = (root: Module, path: string | null): Module | null => (path === null ? null : find(root, path));

const attentionDetail = (c: Config): string => `${c.heads} heads × ${c.d_model / c.heads}`;

interface Sublayer {
  title: string;
  name: 'self_attn' | 'cross_attn' | 'feed_forward';
  kind: BoxKind;
  detail: string;
  place: Place;
  memory?: boolean;
}

function sublayersOf(side: 'encoder' | 'decoder', layer: number, c: Config): Sublayer[] {
  const attention = (name: 'self_attn' | 'cross_attn', title: string): Sublayer => ({
    title, name, kind: 'attention', detail: attentionDetail(c), memory: name === 'cross_attn',
    place: { screen: 'attention', stack: name === 'cross_attn' ? 'cross' : side, layer },
  });
  const feedForward: Sublayer = {
    title: 'Feed-Forward', name: 'feed_forward', kind: 'feed_forward', detail: `${c.d_model} → ${c.d_ff} → ${c.d_model}, ${c.activation}`,
    place: { screen: 'tensors', tensor: `${side}.layers.${layer}.feed_forward.hidden` },
  };
  return side === 'encoder' ? [attention('self_attn', 'Multi-Head Attention'), feedForward]
    : [attention('self_attn', 'Masked Multi-Head Attention'), attention('cross_attn', 'Multi-Head Attention'), feedForward];
}

// Pre-LN: norm, sub-layer, sum. Post-LN: sub-layer, sum, norm.
function layerBoxes(side: 'encoder' | 'decoder', layer: number, c: Config, shape: string, first: number): Box[] {
  const boxes: Box[] = [];
  for (const s of sublayersOf(side, layer, c)) {
    const path = `${side}.layers.${layer}.${s.name}`, residual = `${path}_residual`;
    const flow: Place = { screen: 'flow' };
    const norm: Box = { kind: 'norm', title: 'Layer Norm', detail: '', path: `${residual}.norm`, shape, place: flow, inStack: true };
    const begin = first + boxes.length;
    const add: Box = { kind: 'add', title: 'Add', detail: '', path: null, shape, place: flow, residualFrom: begin, inStack: true };
    const own: Box = { kind: s.kind, title: s.title, detail: s.detail, path, shape, place: s.place, inStack: true, memory: s.memory };
    boxes.push(...(c.norm === 'pre' ? [norm, own, add] : [own, add, norm]));
  }
  return boxes;
}

interface Sizes {
  source: number | null;  // tokens, of the trace at hand
  target: number | null;
}

const sized = (letter: string, tokens: number | null, width: number): string => `[${tokens ?? letter}, ${width}]`;

export function encoderBoxes(root: Module, c: Config, layer: number, sizes: Sizes): Box[] {
  const shape = sized('S', sizes.source, c.d_model);
  const boxes: Box[] = [
    { kind: 'embedding', title: 'Input Embedding', detail: `${c.source_vocab} × ${c.d_model}`, path: 'source_embedding', shape, place: { screen: 'inputs' }, inStack: false },
    { kind: 'position', title: 'Positional Encoding', detail: c.positions, path: 'encoder_positions', shape, place: { screen: 'inputs' }, inStack: false },
  ];
  boxes.push(...layerBoxes('encoder', layer, c, shape, boxes.length));
  if (moduleAt(root, 'encoder.norm')) boxes.push({ kind: 'norm', title: 'Layer Norm', detail: '', path: 'encoder.norm', shape, place: { screen: 'flow' }, inStack: false });
  return boxes;
}

export function decoderBoxes(root: Module, c: Config, layer: number, sizes: Sizes): Box[] {
  const shape = sized('T', sizes.target, c.d_model), wide = sized('T', sizes.target, c.target_vocab);
  const boxes: Box[] = [
    { kind: 'embedding', title: 'Output Embedding', detail: `${c.target_vocab} × ${c.d_model}`, path: 'target_embedding', shape, place: { screen: 'inputs' }, inStack: false },
    { kind: 'position', title: 'Positional Encoding', detail: c.positions, path: 'decoder_positions', shape, place: { screen: 'inputs' }, inStack: false },
  ];
  boxes.push(...layerBoxes('decoder', layer, c, shape, boxes.length));
  if (moduleAt(root, 'decoder.norm')) boxes.push({ kind: 'norm', title: 'Layer Norm', detail: '', path: 'decoder.norm', shape, place: { screen: 'flow' }, inStack: false });
  boxes.push({ kind: 'linear', title: 'Linear', detail: `${c.d_model} → ${c.target_vocab}`, path: 'output', shape: wide, place: { screen: 'tensors', tensor: 'logits' }, inStack: false });
  boxes.push({ kind: 'softmax', title: 'Softmax', detail: '', path: null, shape: wide, place: { screen: 'translate' }, inStack: false });
  return boxes;
}
