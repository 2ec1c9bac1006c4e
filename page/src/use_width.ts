// The width of an element, followed as it changes.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export function useWidth(): [ref: { current: HTMLDivElement | null }, width: number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const box = ref.current!;
    const measure = () => set(Math.floor(box.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
