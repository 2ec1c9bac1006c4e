// One stack of the figure as SVG: boxes from the bottom up, the residual paths around them.
import { moduleAt, type Box } from './architecture';
import { short } from './format';
import { go } from './selection';
import type { Module } from './types';

export const boxWidth = 244;
const heights: Record<Box['kind'], number> = { embedding: 46, attention: 46, norm: 26, feed_forward: 46, linear: 46, softmax: 28, add: 22, position: 22 };
const gap = 24;

export interface PlacedBox {
  box: Box;
  index: number;
  top: number;
  height: number;
}

// Tops of the boxes, the first at the bottom.
export function placeBoxes(boxes: Box[], bottom: number): PlacedBox[] {
  let y = bottom;
  return boxes.map((box, index) => {
    const height = heights[box.kind];
    y -= height + gap;
    return { box, index, top: y, height };
  });
}

export const heightOf = (boxes: Box[]): number => boxes.reduce((sum, box) => sum + heights[box.kind] + gap, 0);

function counts(root: Module, box: Box): string {
  const module = moduleAt(root, box.path);
  return module && module.count > 0 ? short(module.count) : '';
}

function Plate({ placed, x, root, outer }: { placed: PlacedBox; x: number; root: Module; outer: 'left' | 'right' }) {
  const { box, top, height } = placed;
  const number = counts(root, box);
  const words = [box.title, box.detail, number && `${number} parameters`, `gives ${box.shape}`].filter(Boolean).join(', ');
  const round = box.kind === 'add' || box.kind === 'position';
  const middle = x + boxWidth / 2;
  const open = () => box.place && go(box.place);
  return (
    <g class={`plate ${box.kind}`} role="button" tabindex={0} onClick={open}
       onKeyDown={(e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); open(); } }}>
      <title>{words}</title>
      {round ? (
        <>
          <circle cx={middle} cy={top + height / 2} r={11} />
          <path class="plus" d={`M${middle - 6} ${top + height / 2}h12M${middle} ${top + height / 2 - 6}v12`} />
          {box.kind === 'position' && <Wave x={outer === 'left' ? x - 4 : x + boxWidth + 4} y={top + height / 2} middle={middle} outer={outer} title={box.title} detail={box.detail} number={number} />}
          {box.kind === 'add' && <text class="add-name" x={outer === 'left' ? middle + 18 : middle - 18} y={top + height / 2 + 4} text-anchor={outer === 'left' ? 'start' : 'end'}>{box.title}</text>}
        </>
      ) : (
        <>
          <rect x={x} y={top} width={boxWidth} height={height} rx={7} />
          <text class="box-title" x={middle} y={top + (box.detail ? 19 : height / 2 + 4.5)} text-anchor="middle">{box.title}{!box.detail && number ? ` · ${number}` : ''}</text>
          {box.detail && <text class="box-detail" x={middle} y={top + 36} text-anchor="middle">{box.detail}{number ? ` · ${number}` : ''}</text>}
        </>
      )}
    </g>
  );
}

function Wave({ x, y, middle, outer, title, detail, number }: { x: number; y: number; middle: number; outer: 'left' | 'right'; title: string; detail: string; number: string }) {
  const side = outer === 'left' ? 1 : -1, centre = x + 16 * side;
  return (
    <>
      <path class="line" d={`M${centre + 12 * side} ${y}H${middle - 12 * side}`} />
      <circle cx={centre} cy={y} r={12} />
      <path class="wave" d={`M${centre - 8} ${y}q4 -9 8 0t8 0`} />
      <text class="box-detail" x={centre - 4 * side} y={y + 28} text-anchor="middle">{detail}{number ? ` · ${number}` : ''}</text>
      <title>{title}</title>
    </>
  );
}

// Around the sub-layer on the outer side, from below its first box to the sum.
function Residual({ from, to, x, outer }: { from: PlacedBox; to: PlacedBox; x: number; outer: 'left' | 'right' }) {
  const middle = x + boxWidth / 2, side = outer === 'left' ? -1 : 1;
  const edge = middle + side * (boxWidth / 2 + 20), start = from.top + from.height + gap / 2, end = to.top + to.height / 2;
  return <path class="line residual" d={`M${middle} ${start}H${edge - side * 8}q${side * 8} 0 ${side * 8} -8V${end + 8}q0 -8 ${-side * 8} -8H${middle + side * 13}`} marker-end="url(#arrow)" />;
}

interface StackProps {
  boxes: PlacedBox[];
  x: number;
  bottom: number;
  layers: number;
  root: Module;
  outer: 'left' | 'right';
  input: string;
  top: string | null;  // what stands above the last box
}

export function Stack({ boxes, x, bottom, layers, root, outer, input, top }: StackProps) {
  const middle = x + boxWidth / 2;
  const inside = boxes.filter((p) => p.box.inStack);
  const frameTop = inside.at(-1)!.top - 14, frameBottom = inside[0]!.top + inside[0]!.height + 20;
  const side = outer === 'left' ? -1 : 1, end = outer === 'left' ? 'start' : 'end';  // shapes stand away from the residual path
  const labelX = outer === 'left' ? x - 42 : x + boxWidth + 42;
  return (
    <g>
      <rect class="frame" x={x - 30} y={frameTop} width={boxWidth + 60} height={frameBottom - frameTop} rx={14} />
      <text class="times" x={labelX} y={(frameTop + frameBottom) / 2} text-anchor={outer === 'left' ? 'end' : 'start'}>{layers}×</text>
      <text class="figure-input" x={middle} y={bottom + 16} text-anchor="middle">{input}</text>
      {boxes.map((p, i) => {
        const below = i === 0 ? bottom : boxes[i - 1]!.top, above = p.top + p.height;
        const round = p.box.kind === 'add' || p.box.kind === 'position';
        return (
          <g key={i}>
            <path class="line" d={`M${middle} ${below}V${above + (round ? 1 : 2)}`} marker-end="url(#arrow)" />
            {i > 0 && <text class="edge-shape" x={middle - 7 * side} y={(below + above) / 2 + 4} text-anchor={end}>{boxes[i - 1]!.box.shape}</text>}
            {p.box.residualFrom !== undefined && <Residual from={boxes[p.box.residualFrom]!} to={p} x={x} outer={outer} />}
          </g>
        );
      })}
      {top && (
        <>
          <path class="line" d={`M${middle} ${boxes.at(-1)!.top}v-18`} marker-end="url(#arrow)" />
          <text class="figure-input" x={middle} y={boxes.at(-1)!.top - 26} text-anchor="middle">{top}</text>
        </>
      )}
      {boxes.map((p) => <Plate key={p.index} placed={p} x={x} root={root} outer={outer} />)}
    </g>
  );
}
