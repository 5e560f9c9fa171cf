import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { DocumentText } from '../src/port/documents.ts';
import { readDocument } from './read-document.ts';

export function readText(name: string, text: string): Promise<DocumentText> {
  return readDocument(name, new TextEncoder().encode(text));
}

/** Checks the passages of a document, each as `heading: text`, and its title or URL if given. */
export function reads(
  promise: string,
  [name, text]: [name: string, text: string],
  passages: string[],
  expected: Partial<Pick<DocumentText, 'title' | 'url'>> = {},
): void {
  it(promise, async () => {
    const document = await readText(name, text);
    assert.deepEqual(
      document.passages.map(({ heading, text }) => `${heading}: ${text}`),
      passages,
    );
    const { title = document.title, url = document.url } = expected;
    assert.deepEqual([document.title, document.url], [title, url]);
  });
}
