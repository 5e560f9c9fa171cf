import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { retentionKinds } from '../../domain/retention.ts';
import { auditQueries } from './audit.ts';
import { openDatabase } from './database.ts';
import { retentionTexts } from './retention.ts';
import { threadRemovalTexts } from './thread-removal.ts';
import { listingQueries } from './walk-queries.ts';

describe('The SQLite database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-database-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is made where it is missing, folders included, and opened again as it is', () => {
    const file = join(folder, 'a/b/x.db');
    openDatabase(file).close();
    const database = openDatabase(file);
    assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
    assert.ok(Number(database.pragma('user_version', { simple: true })) > 0);
    database.close();
  });

  it('is readable by its owner only, and so are the folders made for it', () => {
    const file = join(folder, 'own/deep/x.db');
    const database = openDatabase(file);
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    for (const path of [join(folder, 'own'), join(folder, 'own/deep')]) assert.equal(modeOf(path), '700');
    for (const path of [file, `${file}-wal`, `${file}-shm`]) assert.equal(modeOf(path), '600');
    database.close();
  });

  it('is not mapped into memory: a file truncated under its mapping would end the process', () => {
    const database = openDatabase(join(folder, 'unmapped.db'));
    assert.deepEqual(database.pragma('mmap_size'), [{ mmap_size: 0 }]);
    database.close();
  });

  it('is refused when a newer release wrote it', () => {
    const file = join(folder, 'newer.db');
    const database = openDatabase(file);
    database.pragma('user_version = 999');
    database.close();
    assert.throws(() => openDatabase(file), /newer release/);
  });

  it('finds every page by covering indexes alone, never by scanning threads', () => {
    const database = openDatabase(join(folder, 'plans.db'));
    const names = ['thread_own', 'thread_own_account', 'thread_published', 'thread_published_account'];
    const used = new Set<string>();
    for (const sql of Object.values(listingQueries()).flatMap((queries) => [
      queries.firstPage,
      queries.laterPage,
      queries.moves,
    ])) {
      const plan = database
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll(/@\w+/g, '1')}`)
        .all();
      for (const { detail } of plan) {
        assert.doesNotMatch(detail, /SCAN (thread|thread_move|message)\b/, sql);
        assert.doesNotMatch(detail, /TEMP B-TREE/, sql);
        for (const name of names) if (detail.includes(`COVERING INDEX ${name} `)) used.add(name);
      }
    }
    assert.deepEqual([...used].sort(), names);
    database.close();
  });

  it('finds every page of the audit log by its key or its trace id, in order', () => {
    const database = openDatabase(join(folder, 'audit.db'));
    const searches = {
      all: /SEARCH audit_event USING PRIMARY KEY \(organization_id=\? AND \(at,id\)</,
      ofTrace: /USING INDEX audit_event_trace \(organization_id=\? AND trace_id=\? AND \(at,id\)</,
    };
    for (const [name, sql] of Object.entries(auditQueries)) {
      const plan = database
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', '1')}`)
        .all()
        .map(({ detail }) => detail);
      assert.match(plan[0]!, searches[name as keyof typeof searches]);
      assert.ok(!plan.some((detail) => /SCAN|TEMP B-TREE/.test(detail)), plan.join('; '));
    }
    database.close();
  });

  it('finds what retention removes by an index of its own, never by a scan', () => {
    const database = openDatabase(join(folder, 'retention.db'));
    const texts = [retentionTexts.remove, retentionTexts.owners, threadRemovalTexts].flatMap(Object.entries);
    assert.equal(texts.length, 2 * retentionKinds.length - 1 + 3);
    for (const [name, sql] of texts) {
      const plan = database
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', '1')}`)
        .all()
        .map(({ detail }) => detail);
      assert.ok(
        plan.some((detail) => detail.startsWith('SEARCH')),
        `${name}: ${plan.join('; ')}`,
      );
      assert.ok(!plan.some((detail) => /SCAN|TEMP B-TREE/.test(detail)), `${name}: ${plan.join('; ')}`);
    }
    database.close();
  });
});
