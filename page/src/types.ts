// What the program answers; docs/inspector-api.md says it in words. NaN and infinities travel as strings.
export type Num = number | 'NaN' | 'Infinity' | '-Infinity';

export type Kind = 'encoder' | 'decoder' | 'cross';
export const kinds: Kind[] = ['encoder', 'decoder', 'cross'];

export interface Config {
  d_model: number;
  heads: number;
  d_ff: number;
  encoder_layers: number;
  decoder_layers: number;
  norm: 'pre' | 'post';
  positions: string;
  activation: string;
  tie_embeddings: string | boolean;
  dropout: unknown;
  source_vocab: number;
  target_vocab: number;
}

export interface Meta {
  api: number;
  program: string;
  report: boolean;
  left_out?: string[];
  model: { path: string; step: number | null; task: string; parameters: number; config: Config } | null;
  run: { name: string; live: boolean } | null;
  traces: string[];
}

export interface Module {
  path: string;
  kind: string;
  count: number;
  parameters: { name: string; shape: number[] }[];
  children: Module[];
}

export interface Token {
  id: number;
  piece: string;
  bytes: [number, number] | null;
}

export interface Prediction {
  id: number;
  piece: string;
  log_p: Num;
  rank: number;
  top: { id: number; piece: string; p: Num }[];
}

export interface AttentionInfo {
  kind: Kind;
  layers: number;
  heads: number;
  rows: number;
  columns: number;
  scale: number;
  causal: boolean;
}

export interface FlowRow {
  stack: 'encoder' | 'decoder';
  layer: number;
  sublayer: 'self_attn' | 'cross_attn' | 'feed_forward';
  contribution: Num;
  stream: Num;
  contributions: Num[];
  streams: Num[];
}

export interface Statistics {
  shape: number[];
  min: Num;
  max: Num;
  mean: Num;
  deviation: Num;
  non_finite: number;
}

export interface TensorInfo extends Statistics {
  path: string;
  dtype: string;
}

export interface Trace {
  id: string;
  source: string;
  target: string;
  loss: Num;
  source_tokens: Token[];
  target_tokens: Token[];
  predictions: Prediction[];
  attentions: AttentionInfo[];
  flow: FlowRow[];
  tensors: TensorInfo[];
}

export interface HeadMeasures {
  layer: number;
  head: number;
  entropy: Num;
  diagonality: Num;
  first: Num;
  largest: Num;
}

export interface Step extends Statistics {
  formula: string;
}

export interface Steps {
  scale: number;
  query: Step;
  key: Step;
  value: Step;
  scores: Step;
  weights: Step;
  context: Step;
  difference: Num;
}

export interface Cell {
  query: Num[];
  key: Num[];
  value: Num[];
  dot: Num;
  scale: number;
  score: Num;
  allowed: boolean;
  row_max: Num;
  row_sum: Num;
  weight: Num;
  rank: number;
  context: Num[];
  captured: Num[];
}

export interface BeamNode {
  id: number;
  parent: number;
  step: number;
  token: number;
  piece: string;
  log_p: Num;
  total: Num;
  divisor: Num;
  score: Num;
  state: 'live' | 'finished' | 'pruned';
}

export interface Hypothesis {
  text: string;
  score: Num;
  log_probability: Num;
  divisor: Num;
  complete: boolean;
  nodes: number[];
}

export interface Beam {
  beam: number;
  length_norm: string;
  alpha: Num;
  nodes: BeamNode[];
  best: Hypothesis[];
}

export interface Intervention {
  text: { before: string; after: string };
  loss: { before: Num; after: Num };
  tokens: { piece: string; before: Num; after: Num }[];
  divergence: Num;
}

export type Bin = [first: number, last: number, min: Num, max: Num, value: Num];

export interface SeriesAnswer {
  last_step: number;
  series: Record<string, Bin[]>;
}

export interface Finding {
  check: string;
  severity: 'fault' | 'note';
  certainty: 'certain' | 'likely' | 'possible';
  what: string;
  places: string[];
  step: number | null;
  evidence: { name: string; measured: Num; healthy: string }[];
  cause: string;
  remedy: string;
  also: string[];
}

export interface Findings {
  healthy: boolean;
  findings: Finding[];
}
