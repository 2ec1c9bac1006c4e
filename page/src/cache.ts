// Answers kept within a bound of bytes, and the hook that waits for one.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, getBytes, getJson } from './api';
import { Lru } from './lru';
import { Matrix } from './matrix';

const answers = new Lru<unknown>(64 << 20);
const underway = new Map<string, Promise<unknown>>();

interface Loader<T> {
  load: (question: string) => Promise<T>;
  cost: (value: T) => number;
}

const json: Loader<unknown> = { load: getJson, cost: (value) => 4 * JSON.stringify(value).length };
const matrix: Loader<Matrix> = { load: async (question) => Matrix.decode(await getBytes(question)), cost: (m) => m.bytes };

function fetchOnce<T>(question: string, loader: Loader<T>): Promise<T> {
  const running = underway.get(question) as Promise<T> | undefined;
  if (running) return running;
  const promise = loader.load(question).then((value) => {
    answers.set(question, value, loader.cost(value));
    return value;
  });
  underway.set(question, promise);
  promise.catch(() => undefined).then(() => underway.delete(question));
  return promise;
}

export const forget = (question: string): void => answers.delete(question);

// Asks before anybody waits for the answer. Whoever wants it later is told what went wrong, not this.
function askAhead<T>(question: string, loader: Loader<T>): void {
  if (answers.get(question) === undefined) fetchOnce(question, loader).catch(() => undefined);
}

export const jsonAhead = (question: string): void => askAhead(question, json);
export const matrixAhead = (question: string): void => askAhead(question, matrix);

export interface Loaded<T> {
  value: T | undefined;  // while loading, the answer before
  error: ApiError | undefined;
  loading: boolean;
  retry: () => void;
}

const asApiError = (e: unknown): ApiError =>
  e instanceof ApiError ? e : new ApiError(0, `The page failed: ${e instanceof Error ? e.message : String(e)}. Reload it.`);

// The answer to a question; at once where it is kept. A null question waits.
function useLoaded<T>(question: string | null, loader: Loader<T>): Loaded<T> {
  const [failure, fail] = useState<{ question: string; error: ApiError } | null>(null);
  const [, redraw] = useState(0);
  const before = useRef<T>(undefined);
  const kept = question === null ? undefined : (answers.get(question) as T | undefined);
  const error = kept === undefined && failure?.question === question ? failure.error : undefined;  // another asker may have had it
  useEffect(() => {
    if (question === null || kept !== undefined || error) return undefined;
    let wanted = true;
    fetchOnce(question, loader).then(
      () => wanted && redraw((n) => n + 1),
      (e: unknown) => wanted && fail({ question, error: asApiError(e) }),
    );
    return () => {
      wanted = false;
    };
  }, [question, kept === undefined, error]);
  if (kept !== undefined) before.current = kept;
  const value = error || question === null ? undefined : before.current;
  return { value, error, loading: question !== null && kept === undefined && !error, retry: () => fail(null) };
}

export const useJson = <T>(question: string | null): Loaded<T> => useLoaded(question, json as Loader<T>);
export const useMatrix = (question: string | null): Loaded<Matrix> => useLoaded(question, matrix);
