import type { Json } from '../api/contract.ts';

/** The operations of the public API, in words. */
export const operations: Record<string, string> = {
  createThread: 'Create thread',
  getThread: 'Get thread',
  listThreads: 'List threads',
  renameThread: 'Rename thread',
  deleteThread: 'Delete thread',
  unknown: 'Unknown route',
};

export function operationName({ method, operation }: Pick<Json<'request'>, 'method' | 'operation'>): string {
  return operation === 'unknown' ? `${method} unknown route` : (operations[operation] ?? operation);
}

export function statusColor(status: number): string {
  if (status >= 500) return 'red';
  if (status >= 400) return 'orange';
  return 'teal';
}

/** The end of a trace ID: the start is a time, which IDs of the same minute share. */
export function shortTraceId(id: string): string {
  return id.slice(-8);
}

/** `0.8 ms`, `12 ms`, `1.3 s` */
export function formatLatency(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
