// Tokens of a sentence as a row of pieces; one of them may be chosen.
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { piece } from './format';
import type { Token } from './types';

interface Props {
  label: string;
  tokens: Token[];
  chosen: number;
  onChoose: (index: number) => void;
}

const title = (token: Token, i: number): string =>
  `${i}: token ${token.id}${token.bytes ? `, bytes ${token.bytes[0]} to ${token.bytes[1]}` : ', no text'}`;

// Brings a child into sight inside its list, without scrolling the page.
function reveal(list: HTMLElement, child: HTMLElement): void {
  if (child.offsetTop < list.scrollTop || child.offsetTop + child.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = child.offsetTop - list.clientHeight / 2;
  }
}

export function Tokens({ label, tokens, chosen, onChoose }: Props) {
  const list = useRef<HTMLOListElement>(null), choose = useRef(onChoose);
  choose.current = onChoose;
  // Five hundred buttons are not compared again for each move of the selection: the mark is set on its own.
  const buttons = useMemo(
    () => tokens.map((token, i) => (
      <li key={i}>
        <button type="button" class={`token ${token.bytes ? '' : 'special'}`} title={title(token, i)} onClick={() => choose.current(i)}>
          {piece(token.piece)}
          <small>{i}</small>
        </button>
      </li>
    )),
    [tokens],
  );
  useLayoutEffect(() => {
    const items = list.current!.children;
    const of = (i: number) => items[i]?.firstElementChild as HTMLElement | undefined;
    for (let i = 0; i < items.length; ++i) of(i)!.setAttribute('aria-pressed', 'false');
  }, [tokens]);
  useLayoutEffect(() => {
    const button = list.current!.children[chosen]?.firstElementChild as HTMLElement | undefined;
    if (!button) return undefined;
    button.setAttribute('aria-pressed', 'true');
    if (tokens.length > 30) reveal(list.current!, button);
    return () => button.setAttribute('aria-pressed', 'false');
  }, [tokens, chosen]);
  return <ol class="tokens" ref={list} aria-label={label}>{buttons}</ol>;
}
