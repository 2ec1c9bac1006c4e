// Wavelength of each column of a sinusoidal encoding, in tokens, on a logarithmic scale.
export const wavelength = (column: number, columns: number): number => 2 * Math.PI * 10000 ** ((2 * Math.floor(column / 2)) / columns);

const height = 64, width = 800;
const decades = [10, 100, 1000, 10000];

export function Wavelengths({ columns }: { columns: number }) {
  const top = Math.log(wavelength(columns - 1, columns)), bottom = Math.log(2 * Math.PI);
  const y = (tokens: number) => height - 4 - ((Math.log(tokens) - bottom) / (top - bottom || 1)) * (height - 12);
  const points = Array.from({ length: columns }, (_, c) => `${(c / Math.max(1, columns - 1)) * width},${y(wavelength(c, columns)).toFixed(1)}`);
  return (
    <div class="wavelengths" role="img" aria-label={`Wavelengths rise from ${(2 * Math.PI).toFixed(2)} tokens at column 0 to ${Math.round(wavelength(columns - 1, columns))} at column ${columns - 1}`}>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {decades.map((d) => <line key={d} x1={0} x2={width} y1={y(d)} y2={y(d)} />)}
        <polyline points={points.join(' ')} />
      </svg>
      {decades.map((d) => <span key={d} style={{ top: `${y(d)}px` }} aria-hidden="true">{d.toLocaleString('en-US')}</span>)}
    </div>
  );
}
