// Light or dark: as the system says, or as the reader chose.
import { computed, effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const query = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(query.matches);
query.addEventListener('change', () => (systemDark.value = query.matches));

function remembered(): Theme {
  try {
    const value = localStorage.getItem('theme');
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';  // a file opened from disk may have no storage
  }
}

export const theme = signal<Theme>(remembered());
export const dark = computed(() => (theme.value === 'system' ? systemDark.value : theme.value === 'dark'));

effect(() => {
  document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
});

export function chooseTheme(value: Theme): void {
  theme.value = value;
  try {
    localStorage.setItem('theme', value);
  } catch {
    // Then the choice lasts as long as the page.
  }
}

const inks = new Map<string, string>();

// The value of a colour of styles.css, for what is drawn on a canvas. Kept, since asking makes the browser lay out.
export function ink(name: string): string {
  const key = `${name} ${dark.peek()}`;
  let value = inks.get(key);
  if (value === undefined) inks.set(key, (value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()));
  return value;
}
