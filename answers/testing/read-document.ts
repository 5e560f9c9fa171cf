import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DocumentText } from '../src/port/documents.ts';
import { documentReader } from '../src/reading/document-reader.ts';
import type { ReadingLimits } from '../src/reading/reading-limits.ts';
import { readingLimits } from './reading-limits.ts';

/** On a busy machine, a file that can be read must not fail at the deadline. Tests of the deadline set their own. */
const documentReadMs = 300_000;

type Read = ReturnType<typeof documentReader>;

export function readerWith(limits: Partial<ReadingLimits> = {}, program?: URL): Read {
  return documentReader({ ...readingLimits, documentReadMs, ...limits }, program);
}

const reader = readerWith();

/** Reads a file with these bytes. The terms of its passages are left out. */
export async function readDocument(
  name: string,
  bytes: Uint8Array,
  read: Read = reader,
): Promise<DocumentText> {
  const path = join(tmpdir(), `skein-document-${randomUUID()}`);
  writeFileSync(path, bytes);
  try {
    const { title, url, passages } = await read('org', name, path);
    return { title, url, passages: passages.map(({ heading, text }) => ({ heading, text })) };
  } finally {
    rmSync(path);
  }
}
