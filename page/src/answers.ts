// A report: the answers lie in the document itself, one zlib stream behind a table of contents.
interface Contents {
  answers: Record<string, { type: string; at: [number, number] }>;
  deflate: string;
}

const element = (): HTMLElement | null => document.getElementById('answers');

export const isReport = (): boolean => element() !== null;

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

let contents: Contents | null = null;
let bodies: Promise<ArrayBuffer> | null = null;

const parsed = (): Contents => (contents ??= JSON.parse(element()!.textContent ?? '') as Contents);

// Whether the report has an answer to this question.
export function reportHas(question: string): boolean {
  try {
    return question in parsed().answers;
  } catch {
    return false;
  }
}

async function open(): Promise<ArrayBuffer> {
  const bytes = bytesOfBase64(parsed().deflate);
  parsed().deflate = '';  // the text is a third larger than what it holds
  return inflate(bytes);
}

// The body of the answer, or null where the question was not asked when the report was made.
export async function fromReport(question: string): Promise<ArrayBuffer | null> {
  const entry = parsed().answers[question];
  if (!entry) return null;
  const all = await (bodies ??= open());
  if (entry.at[1] > all.byteLength) throw new Error('the stream is cut short');
  return all.slice(entry.at[0], entry.at[1]);
}
