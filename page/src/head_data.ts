// The matrices of one head, and its numbers worked out again from Q, K and V in double precision.
import { useMemo } from 'preact/hooks';
import { isReport, reportHas } from './answers';
import { useJson, useMatrix, type Loaded } from './cache';
import { number } from './format';
import type { Matrix } from './matrix';
import { modulePath } from './session';
import type { AttentionInfo, Cell, Kind, Trace } from './types';

export interface Head {
  query: Loaded<Matrix>;  // [T,K]
  key: Loaded<Matrix>;    // [S,K]
  value: Loaded<Matrix>;  // [S,K]
  scores: Loaded<Matrix>;   // [T,S]
  weights: Loaded<Matrix>;  // [T,S]
  context: Loaded<Matrix>;  // [T,K]
  pooled: boolean;  // the weights are not each cell's own
}

const mapped = (from: Loaded<Matrix>, value: Matrix | undefined): Loaded<Matrix> => ({ ...from, value });

// Taps hold all heads, [1,H,T,K]: one question serves every head of the layer.
function useHeadTensor(trace: Trace, path: string, head: number): Loaded<Matrix> {
  const whole = useMatrix(`traces/${trace.id}/tensor/${path}?as=f32`);
  return mapped(whole, whole.value?.plane(...(whole.value.shape.length === 4 ? [0, head] : [head])));
}

export function useHead(trace: Trace, info: AttentionInfo, kind: Kind, layer: number, head: number): Head {
  const path = modulePath(kind, layer);
  const base = `traces/${trace.id}/attention/${kind}`;
  const own = `${base}/${layer}/${head}`;
  const pooled = isReport() && !reportHas(`${own}/weights`);
  const weights = useMatrix(pooled ? `${base}/overview?size=160` : `${own}/weights`);
  const spread = useMemo(
    () => (pooled ? weights.value?.plane(layer, head).spread(info.rows, info.columns) : weights.value),
    [weights.value, pooled, layer, head],
  );
  return {
    query: useHeadTensor(trace, `${path}.query_heads`, head),
    key: useHeadTensor(trace, `${path}.key_heads`, head),
    value: useHeadTensor(trace, `${path}.value_heads`, head),
    context: useHeadTensor(trace, `${path}.context`, head),
    scores: useMatrix(`${own}/scores`),
    weights: mapped(weights, spread),
    pooled,
  };
}

const vector = (m: Matrix, row: number): number[] => Array.from({ length: m.columns }, (_, c) => m.at(row, c));
const dotOf = (a: number[], b: number[]): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

export interface Row {
  scores: number[];   // NaN where masked
  weights: number[];  // NaN where masked
  max: number;
  sum: number;
}

export function softmaxOf(scores: number[]): Row {
  const allowed = scores.filter((s) => !Number.isNaN(s));
  const max = Math.max(...allowed), sum = allowed.reduce((total, s) => total + Math.exp(s - max), 0);
  return { scores, max, sum, weights: scores.map((s) => (Number.isNaN(s) ? NaN : Math.exp(s - max) / sum)) };
}

// A row of scores from the projections, for a report, which holds no float32 scores.
function rowOf(q: Matrix, k: Matrix, weights: Matrix, scale: number, query: number): Row {
  const row = vector(q, query);
  return softmaxOf(Array.from({ length: k.rows }, (_, s) => (Number.isNaN(weights.at(query, s)) ? NaN : scale * dotOf(row, vector(k, s)))));
}

function useDerivedRow(info: AttentionInfo, head: Head, query: number): Row | undefined {
  const q = head.query.value, k = head.key.value, w = head.weights.value;
  return useMemo(
    () => (isReport() && q && k && w && query < q.rows && w.columns === k.rows ? rowOf(q, k, w, info.scale, query) : undefined),
    [q, k, w, query, info.scale],
  );
}

// Scores and weights of the chosen query over all keys, each a float32 of the model's own.
export function useRow(trace: Trace, info: AttentionInfo, head: Head, layer: number, index: number, query: number): Loaded<Row> {
  const rows = `traces/${trace.id}/attention/${info.kind}/${layer}/${index}/scores?rows=${query}:${query + 1}`;
  const answer = useMatrix(isReport() ? null : rows);
  const derived = useDerivedRow(info, head, query);
  const asked = useMemo(() => answer.value && softmaxOf(Array.from(answer.value.cells)), [answer.value]);
  if (isReport()) return { value: derived, error: head.query.error ?? head.key.error, loading: false, retry: head.query.retry };
  return { ...answer, value: asked };
}

function derivedCell(info: AttentionInfo, head: Head, row: Row, query: number, key: number): Cell {
  const q = vector(head.query.value!, query), k = vector(head.key.value!, key), v = head.value.value!;
  const dot = dotOf(q, k), weight = row.weights[key]!;
  const context = Array.from({ length: v.columns }, (_, c) => row.weights.reduce((sum, w, s) => (Number.isNaN(w) ? sum : sum + w * v.at(s, c)), 0));
  return {
    query: q, key: k, value: vector(v, key), dot, scale: info.scale, score: dot * info.scale, allowed: !Number.isNaN(weight),
    row_max: row.max, row_sum: row.sum, weight: Number.isNaN(weight) ? 0 : weight, rank: 1 + row.weights.filter((w) => w > weight).length,
    context, captured: head.context.value ? vector(head.context.value, query) : context,
  };
}

// All numbers of one cell: the program's, or in a report worked out from Q, K and V.
export function useCell(trace: Trace, info: AttentionInfo, head: Head, layer: number, index: number, query: number, key: number): Loaded<Cell> {
  const question = `traces/${trace.id}/attention/${info.kind}/${layer}/${index}/cell?query=${query}&key=${key}`;
  const answer = useJson<Cell>(isReport() ? null : question);
  const row = useDerivedRow(info, head, query);
  const v = head.value.value, c = head.context.value;
  const derived = useMemo(
    () => (row && v && key < v.rows && query < info.rows ? derivedCell(info, head, row, query, key) : undefined),
    [row, v, c, query, key],
  );
  if (isReport()) return { value: derived, error: head.value.error ?? head.query.error ?? head.key.error, loading: false, retry: head.value.retry };
  return answer;
}

export const largestDifference = (a: readonly (number | string)[], b: readonly (number | string)[]): number =>
  a.reduce<number>((most, x, i) => Math.max(most, Math.abs(number(x as number) - number(b[i] as number))), 0);
