// A value once it has stopped changing, for what need not follow every step of a moving selection.
import { useEffect, useState } from 'preact/hooks';

export function useSettled<T>(value: T, name: string): T {
  const [settled, settle] = useState({ value, name });
  useEffect(() => {
    if (settled.name === name) return undefined;
    const timer = window.setTimeout(() => settle({ value, name }), 120);
    return () => window.clearTimeout(timer);
  }, [name, settled.name]);
  return settled.value;
}
