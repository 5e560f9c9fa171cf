import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readingLimits } from '../../testing/reading-limits.ts';
import { openDocumentFile } from './document-file.ts';
import { UnreadableDocument } from './unreadable-document.ts';

it('gives as many bytes of a file as it had when it was opened, or rejects', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-file-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a.md');
  writeFileSync(path, 'Text.');
  const file = await openDocumentFile(path, readingLimits);
  t.after(() => file.close());
  assert.equal(file.size, 5);
  const read = async () => (await Array.fromAsync(file.chunks())).join('');
  writeFileSync(path, 'Text. And more.', { flag: 'r+' });
  assert.equal(await read(), 'Text.');
  truncateSync(path, 3);
  await assert.rejects(read(), new UnreadableDocument('became shorter while it was read: try again'));
});
