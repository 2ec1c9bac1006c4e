// Questions to the program, or to the report this page is in. Every failure is an ApiError that says what to do.
import { fromReport, isReport } from './answers';

const base = 'api/v1/';

export class ApiError extends Error {
  constructor(
    readonly status: number,  // of HTTP; 0 where nobody answered or the answer made no sense
    message: string,
  ) {
    super(message);
  }
}

const gone = () =>
  new ApiError(0, 'The program does not answer. If it has ended, start it again with "glassformer inspect --model FILE" and ask again.');

const garbled = (question: string) =>
  new ApiError(0, `The answer to "${question}" is cut short or damaged. Ask again; if it stays so, start the program again.`);

const notAsked = () =>
  new ApiError(404, 'This report does not hold that answer. Open the model with "glassformer inspect --model FILE" to ask it.');

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as { error?: string };
    if (error) return new ApiError(response.status, error);
  } catch {
    // Not ours: something between the page and the program answered.
  }
  return new ApiError(response.status, `The program answered with status ${response.status}. Start it again and reload the page.`);
}

async function ask(question: string, init?: RequestInit): Promise<ArrayBuffer> {
  let response: Response;
  try {
    response = await fetch(base + question, init);
  } catch {
    throw gone();
  }
  if (!response.ok) throw await errorOf(response);
  return response.arrayBuffer().catch(() => {
    throw garbled(question);
  });
}

async function fromDocument(question: string): Promise<ArrayBuffer> {
  let body: ArrayBuffer | null;
  try {
    body = await fromReport(question);
  } catch {
    throw new ApiError(0, 'This report is damaged: its answers cannot be read. Make it again with --report.');
  }
  if (!body) throw notAsked();
  return body;
}

export const getBytes = (question: string): Promise<ArrayBuffer> =>
  isReport() ? fromDocument(question) : ask(question);

function parse<T>(question: string, body: ArrayBuffer): T {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as T;
  } catch {
    throw garbled(question);
  }
}

export const getJson = async <T>(question: string): Promise<T> => parse<T>(question, await getBytes(question));

export async function post<T>(question: string, body: unknown): Promise<T> {
  if (isReport()) throw notAsked();
  const headers = { 'content-type': 'application/json' };
  return parse<T>(question, await ask(question, { method: 'POST', headers, body: JSON.stringify(body) }));
}

// Calls back for each server-sent event of the run until the returned function is called.
export function listen(question: string, events: Record<string, (data: string) => void>): () => void {
  if (isReport()) return () => undefined;
  const source = new EventSource(base + question);
  for (const [name, call] of Object.entries(events)) source.addEventListener(name, (e) => call((e as MessageEvent<string>).data));
  return () => source.close();
}
