// What the colours of a heat map mean.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { show } from './format';
import { css, colour, share, type Palette } from './palette';
import { dark } from './theme';

const width = 132;

const ticksOf = (palette: Palette, largest: number): number[] => (palette === 'weights' ? [0, 0.1, 0.5, 1] : [-largest, 0, largest]);

export function ColourBar({ palette, largest }: { palette: Palette; largest: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const night = dark.value;
  useLayoutEffect(() => {
    const context = canvas.current!.getContext('2d')!;
    for (let x = 0; x < width; ++x) {
      const at = x / (width - 1);
      context.fillStyle = css(colour(palette, palette === 'weights' ? at * at : 2 * at - 1, 1, night));
      context.fillRect(x, 0, 1, 8);
    }
  }, [palette, night]);
  return (
    <div class="colour-bar" aria-hidden="true">
      <canvas ref={canvas} width={width} height={8} />
      <div class="colour-ticks">
        {ticksOf(palette, largest || 1).map((value) => (
          <span key={value} style={{ left: `${share(palette, value, largest || 1) * 100}%` }}>{show(value, 2)}</span>
        ))}
        <i class="hatch" />
      </div>
    </div>
  );
}
