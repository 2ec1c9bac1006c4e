// The search as a drawing: kept, finished and given up, told apart by outline as well as by colour.
import { useMemo, useRef } from 'preact/hooks';
import { columnGap, layOutBeam, nodeHeight, nodeWidth, type Layout, type Placed } from './beam_layout';
import { piece, show } from './format';
import type { Beam, BeamNode } from './types';

interface Props {
  beam: Beam;
  pruned: boolean;
  best: Set<number>;  // nodes of the chosen hypothesis
  focused: number | null;
  onFocus: (id: number) => void;
  onForce: (id: number) => void;
}

const stateNames: Record<BeamNode['state'], string> = { live: 'kept', finished: 'finished', pruned: 'given up' };

function Edge({ from, to, best }: { from: Placed | undefined; to: Placed; best: boolean }) {
  const x0 = from ? from.x + nodeWidth : 22, y0 = (from?.y ?? 22) + nodeHeight / 2, x1 = to.x, y1 = to.y + nodeHeight / 2;
  const bend = (x0 + x1) / 2;
  return <path class={`edge ${to.node.state} ${best ? 'best' : ''}`} d={`M${x0} ${y0}C${bend} ${y0} ${bend} ${y1} ${x1} ${y1}`} />;
}

function Node({ placed, best, stop, onFocus, onForce }: { placed: Placed; best: boolean; stop: boolean; onFocus: () => void; onForce: () => void }) {
  const { node, x, y } = placed;
  const name = `step ${node.step}, ${piece(node.piece)}, ${stateNames[node.state]}, score ${show(node.score)}`;
  const text = piece(node.piece);
  return (
    <g class={`node ${node.state} ${best ? 'best' : ''}`} transform={`translate(${x} ${y})`} role="button" tabindex={stop ? 0 : -1} data-node={node.id} onPointerEnter={onFocus} onFocus={onFocus} onClick={onForce}
       onKeyDown={(e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); onForce(); } }}>
      <title>{name}</title>
      <rect width={nodeWidth} height={nodeHeight} rx={7} />
      {node.state === 'finished' && <rect class="inner" x={3} y={3} width={nodeWidth - 6} height={nodeHeight - 6} rx={5} />}
      <text x={9} y={16} class="node-piece">{text.length > 11 ? `${text.slice(0, 10)}…` : text}</text>
      <text x={9} y={30} class="node-score">{show(node.score, 3)}</text>
      <text x={nodeWidth - 9} y={30} class="node-mark" text-anchor="end">{node.state === 'finished' ? '■ end' : node.state === 'pruned' ? '✕' : ''}</text>
    </g>
  );
}

// The node an arrow leads to: parent, best child, neighbours of the column.
function neighbour(layout: Layout, id: number, pressed: string): Placed | undefined {
  const at = layout.byId.get(id);
  if (!at) return layout.nodes[0];
  if (pressed === 'ArrowLeft') return layout.byId.get(at.node.parent);
  if (pressed === 'ArrowRight') return layout.nodes.find((p) => p.node.parent === id);
  const column = layout.columns[at.node.step - layout.first] ?? [];
  return column[column.indexOf(at) + (pressed === 'ArrowDown' ? 1 : -1)];
}

export function BeamTree({ beam, pruned, best, focused, onFocus, onForce }: Props) {
  const drawing = useRef<SVGSVGElement>(null);
  const layout = useMemo(() => layOutBeam(beam, pruned), [beam, pruned]);
  const stop = focused !== null && layout.byId.has(focused) ? focused : layout.nodes[0]?.node.id;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.key.startsWith('Arrow') || stop === undefined) return;
    event.preventDefault();
    const next = neighbour(layout, stop, event.key);
    if (next) drawing.current!.querySelector<SVGGElement>(`[data-node="${next.node.id}"]`)?.focus();
  };
  return (
    <div class="beam-scroll">
      <svg ref={drawing} class="beam" width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`} role="group"
           aria-label="Beam search, a column a step. Arrow keys move, Enter forces a prefix." onKeyDown={onKeyDown}>
        {layout.columns.map((_, at) => (
          <text key={at} class="step-label" x={nodeWidth * 0.7 + at * (nodeWidth + columnGap)} y={13}>step {layout.first + at}</text>
        ))}
        <circle class="root" cx={14} cy={22 + nodeHeight / 2} r={8} />
        {layout.nodes.map((p) => <Edge key={p.node.id} from={layout.byId.get(p.node.parent)} to={p} best={best.has(p.node.id)} />)}
        {layout.nodes.map((p) => (
          <Node key={p.node.id} placed={p} best={best.has(p.node.id)} stop={p.node.id === stop} onFocus={() => onFocus(p.node.id)} onForce={() => onForce(p.node.id)} />
        ))}
      </svg>
    </div>
  );
}
