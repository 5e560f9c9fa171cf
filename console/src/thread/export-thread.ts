import type { ThreadViewJson } from '../api/contract.ts';
import { fileNameOf, threadMarkdown } from './thread-markdown.ts';

/** Downloads the thread. JSON has every message; Markdown the current version of each. */
export function exportThread(view: ThreadViewJson, format: 'md' | 'json'): void {
  const { thread, messages } = view;
  const isJson = format === 'json';
  const parts = isJson
    ? [JSON.stringify({ thread, messages }, undefined, 2), '\n']
    : [...threadMarkdown(view)];
  const type = isJson ? 'application/json' : 'text/markdown;charset=utf-8';
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileNameOf(thread.title, format);
  link.click();
  // The download has its own reference by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
