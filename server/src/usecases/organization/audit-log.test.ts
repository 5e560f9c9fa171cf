import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { authorizeWrites } from '../../../testing/authorize-writes.ts';
import { note, World } from '../../../testing/contract/fixture.ts';
import { createIdGenerator } from '../../domain/id.ts';
import { createSeal } from '../../security/seal.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createAuditLog, csvLine } from './audit-log.ts';

test('cells are quoted, even with quotes, commas and line breaks in them', () => {
  assert.equal(csvLine(['a', 'say "hi", please', 'two\nlines']), '"a","say ""hi"", please","two\nlines"\r\n');
});

test('a cell that a spreadsheet would run as a formula starts with an apostrophe', () => {
  for (const start of ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n'])
    assert.equal(csvLine([`${start}cmd`]), `"'${start}cmd"\r\n`);
  assert.equal(csvLine(['a=b']), '"a=b"\r\n');
});

test('an export says if it is incomplete, and lets other work run between pages', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-export-'));
  const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
  t.after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { store } = world;
  const organizationId = await world.organization();
  for (let index = 0; index < 1_001; index += 1) await store.writeAudit(organizationId, note());
  const ids = createIdGenerator(Date.now, randomBytes);
  const seal = createSeal(new Uint8Array(32));
  const audit = createAuditLog({ store, ids, seal, authorize: authorizeWrites(store) });
  const exportLines = async (pages?: number) => {
    let text = '';
    for await (const piece of audit.exportCsv(organizationId, {}, pages)) text += piece;
    return text.trimEnd().split('\r\n');
  };

  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const all = await exportLines().finally(() => clearImmediate(counting));
  assert.ok(all.length > 1_001 && !all.at(-1)!.includes('Incomplete'));
  assert.ok(turns >= 2, `${turns} turns`);
  const cut = await exportLines(2);
  assert.deepEqual([cut.length, cut.at(-1)!.startsWith('"Incomplete: ')], [1_002, true]);
});
