// Where each hypothesis of a search stands: a column a step, the best on top.
import { number } from './format';
import type { Beam, BeamNode } from './types';

export const nodeWidth = 108, nodeHeight = 36, columnGap = 34, rowGap = 8;

export interface Placed {
  node: BeamNode;
  x: number;
  y: number;
}

export interface Layout {
  nodes: Placed[];
  byId: Map<number, Placed>;
  columns: Placed[][];
  width: number;
  height: number;
  first: number;  // step of the first column
}

const order = { live: 0, finished: 0, pruned: 1 } as const;

export function layOutBeam(beam: Beam, withPruned: boolean): Layout {
  const shown = beam.nodes.filter((n) => withPruned || n.state !== 'pruned');
  const first = shown.reduce((least, n) => Math.min(least, n.step), Infinity);
  const columns: Placed[][] = [];
  const byId = new Map<number, Placed>();
  for (const node of shown) (columns[node.step - first] ??= []).push({ node, x: 0, y: 0 });
  let most = 0;
  columns.forEach((column, at) => {
    column.sort((a, b) => order[a.node.state] - order[b.node.state] || number(b.node.score) - number(a.node.score));
    column.forEach((placed, row) => {
      placed.x = nodeWidth * 0.7 + at * (nodeWidth + columnGap);
      placed.y = 22 + row * (nodeHeight + rowGap);
      byId.set(placed.node.id, placed);
    });
    most = Math.max(most, column.length);
  });
  return {
    nodes: columns.flat(), byId, columns, first: Number.isFinite(first) ? first : 0,
    width: nodeWidth * 0.7 + columns.length * (nodeWidth + columnGap), height: 26 + most * (nodeHeight + rowGap),
  };
}

// From the first token to this one. What is finished ends in a token that nothing may follow, so that one goes.
export function prefixOf(beam: Beam, id: number): number[] {
  const byId = new Map(beam.nodes.map((n) => [n.id, n]));
  const tokens: number[] = [];
  for (let node = byId.get(id); node; node = byId.get(node.parent)) {
    if (node.state !== 'finished' || node.id !== id) tokens.push(node.token);
  }
  return tokens.reverse();
}

export function textOf(beam: Beam, id: number): string {
  const byId = new Map(beam.nodes.map((n) => [n.id, n]));
  const pieces: string[] = [];
  for (let node = byId.get(id); node; node = byId.get(node.parent)) pieces.push(node.piece);
  return pieces.reverse().join(' ');
}
