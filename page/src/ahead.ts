// The maps of all heads, asked for while the reader still looks at the sentence: they take the program longest.
import { useEffect } from 'preact/hooks';
import { isReport } from './answers';
import { jsonAhead, matrixAhead } from './cache';
import type { AttentionInfo, Trace } from './types';

// Cells of all heads together that the program goes through in less than a second; of longer texts it is asked only on demand.
const mostCells = 1 << 26;

const cells = (trace: Trace): number => trace.attentions.reduce((sum, a) => sum + a.layers * a.heads * a.rows * a.columns, 0);

export const overviewQuestion = (trace: Trace, info: AttentionInfo): string => `traces/${trace.id}/attention/${info.kind}/overview?size=48`;
export const measuresQuestion = (trace: Trace, info: AttentionInfo): string => `traces/${trace.id}/attention/${info.kind}/measures`;

export function OverviewsAhead({ trace }: { trace: Trace | undefined }): null {
  useEffect(() => {
    if (!trace || isReport() || cells(trace) > mostCells) return undefined;
    const later = window.setTimeout(() => {  // after what the screen itself asks
      for (const info of trace.attentions) {
        matrixAhead(overviewQuestion(trace, info));
        jsonAhead(measuresQuestion(trace, info));
      }
    });
    return () => window.clearTimeout(later);
  }, [trace]);
  return null;
}
