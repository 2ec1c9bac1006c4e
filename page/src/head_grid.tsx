// L x H small maps as buttons: one stop for Tab, arrows move inside, Enter locks.
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { number, show } from './format';
import { drawImage, keptImage } from './heatmap_paint';
import type { Matrix } from './matrix';
import { Bar } from './parts';
import { measures as measureNames, type HeadPlace, type Measure } from './screens/heads';
import { dark } from './theme';
import type { AttentionInfo, HeadMeasures } from './types';

const tilePixels = 96;  // of the canvas; its size on screen is the style's

function Tile({ matrix }: { matrix: Matrix }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const night = dark.value;
  useLayoutEffect(() => {
    const context = canvas.current!.getContext('2d')!;
    drawImage(context, keptImage(matrix, 'weights', 1, night, tilePixels, tilePixels), 1, 0, 0, tilePixels, tilePixels);
  }, [matrix, night]);
  return <canvas ref={canvas} width={tilePixels} height={tilePixels} />;
}

interface Props {
  info: AttentionInfo;
  overview: Matrix;
  measures: HeadMeasures[] | undefined;
  order: Measure | null;
  preview: HeadPlace;
  onPreview: (place: HeadPlace) => void;
  onLock: (place: HeadPlace) => void;
}

type Entry = { layer: number; head: number; measure: HeadMeasures | undefined };

function entriesOf({ info, measures, order }: Props): Entry[] {
  const entries: Entry[] = [];
  for (let layer = 0; layer < info.layers; ++layer) {
    for (let head = 0; head < info.heads; ++head) {
      entries.push({ layer, head, measure: measures?.find((m) => m.layer === layer && m.head === head) });
    }
  }
  const key = (e: Entry) => number(e.measure?.[order!]) || 0;
  return order && measures ? entries.sort((a, b) => key(b) - key(a)) : entries;
}

const step = (pressed: string, perRow: number): number =>
  ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow })[pressed] ?? 0;

export function HeadGrid(props: Props) {
  const { info, overview, order, preview, onPreview, onLock } = props;
  const box = useRef<HTMLDivElement>(null);
  const entries = entriesOf(props);
  const planes = useMemo(
    () => Array.from({ length: info.layers }, (_, l) => Array.from({ length: info.heads }, (_, h) => overview.plane(l, h))),
    [overview],
  );
  const here = entries.findIndex((e) => preview.kind === info.kind && e.layer === preview.layer && e.head === preview.head);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = [...box.current!.querySelectorAll('button')];
    const next = at.indexOf(document.activeElement as HTMLButtonElement) + step(event.key, info.heads);
    if (!step(event.key, info.heads) || !at[next]) return;
    event.preventDefault();
    at[next]!.focus();
  };
  const shown = order ?? 'entropy';
  return (
    <div class={`head-grid ${order ? 'sorted' : ''}`} ref={box} role="group" onKeyDown={onKeyDown}
         aria-label="Heads. Arrow keys move, Enter opens the head." style={{ '--heads': String(info.heads) }}>
      {entries.map(({ layer, head, measure }, i) => {
        const place = { kind: info.kind, layer, head };
        const value = measure?.[shown];
        return (
          <button key={`${layer}/${head}`} type="button" class="head-tile" tabIndex={i === Math.max(0, here) ? 0 : -1} aria-current={i === here || undefined}
                  onPointerEnter={() => onPreview(place)} onFocus={() => onPreview(place)} onClick={() => onLock(place)}>
            <span class="visually-hidden">layer {layer}, head {head}{value === undefined ? '' : `, ${measureNames[shown].name} ${show(value, 2)}`}</span>
            <Tile matrix={planes[layer]![head]!} />
            <span class="head-name" aria-hidden="true">
              {layer}.{head}<em>{value === undefined ? '' : number(value).toFixed(2)}</em>
            </span>
            <Bar share={number(value)} />
          </button>
        );
      })}
    </div>
  );
}
