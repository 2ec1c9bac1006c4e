// Tokens of a sentence as a row of pieces; one of them may be chosen.
import { piece } from './format';
import type { Token } from './types';

interface Props {
  label: string;
  tokens: Token[];
  chosen?: number;
  onChoose?: (index: number) => void;
  marks?: (number | null)[];  // 0 to 1 under each piece
}

const title = (token: Token, i: number): string =>
  `${i}: token ${token.id}${token.bytes ? `, bytes ${token.bytes[0]} to ${token.bytes[1]}` : ', no text'}`;

export function Tokens({ label, tokens, chosen, onChoose, marks }: Props) {
  return (
    <ol class="tokens" aria-label={label}>
      {tokens.map((token, i) => (
        <li key={i}>
          <button type="button" class={`token ${token.bytes ? '' : 'special'}`} aria-pressed={onChoose ? i === chosen : undefined}
                  disabled={!onChoose} title={title(token, i)} onClick={() => onChoose?.(i)}>
            {piece(token.piece)}
            {marks && <i class="mark" style={{ width: `${(marks[i] ?? 0) * 100}%` }} />}
            <small>{i}</small>
          </button>
        </li>
      ))}
    </ol>
  );
}
