import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { migrationsFolder, readMigrations } from './migrations.ts';

describe('Migrations', () => {
  const folders: string[] = [];
  const createFolder = (...names: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-migrations-'));
    folders.push(folder);
    for (const name of names) writeFileSync(join(folder, name), `-- ${name}`);
    return folder;
  };
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('have the highest file number as their version, not the number of files', () => {
    assert.equal(readMigrations('sqlite', createFolder('001-initial.sql', '004-later.sql')).version, 4);
  });

  it('return what a store lacks, in numeric order, across gaps', () => {
    const migrations = readMigrations(
      'sqlite',
      createFolder('010-c.sql', '002-b.sql', '001-a.sql', 'README.md'),
    );
    assert.deepEqual(migrations.after(0), ['-- 001-a.sql', '-- 002-b.sql', '-- 010-c.sql']);
    assert.deepEqual(migrations.after(1), ['-- 002-b.sql', '-- 010-c.sql']);
    assert.deepEqual(migrations.after(5), ['-- 010-c.sql']);
    assert.deepEqual(migrations.after(10), []);
  });

  it('reject a store that a newer release wrote', () => {
    assert.throws(
      () => readMigrations('sqlite', createFolder('001-a.sql', '003-b.sql')).after(4),
      /written by a newer release \(schema 4, this one knows 3\): install that release/,
    );
  });

  it('have names that start with a number of their own', () => {
    const names = readdirSync(migrationsFolder).filter((name) => !/^migrations(\.test)?\.ts$/.test(name));
    assert.ok(names.length > 0);
    for (const name of names) assert.match(name, /^\d{3}-[a-z-]+\.sql$/);
    assert.equal(new Set(names.map((name) => name.slice(0, 3))).size, names.length);
  });

  it('contain the shared parts and those for their engine', () => {
    const folder = createFolder();
    const lines = [
      'CREATE TABLE note (',
      '  id text COLLATE "C" PRIMARY KEY, at bigint NOT NULL, open boolean NOT NULL DEFAULT false,',
      '-- postgres:',
      '  terms tsvector,',
      '-- sqlite:',
      '  number INTEGER,',
      '-- both:',
      '  value bytea',
      ') WITH (fillfactor = 50);',
      'CREATE TABLE line (number bigint',
      ') WITH (fillfactor = 80); -- rowid',
    ];
    writeFileSync(join(folder, '001-note.sql'), lines.join('\n'));
    const shared = lines.filter((line) => !line.startsWith('-- '));
    assert.deepEqual(readMigrations('postgres', folder).after(0), [shared.toSpliced(3, 1).join('\n')]);
    assert.deepEqual(readMigrations('sqlite', folder).after(0), [
      [
        'CREATE TABLE note (',
        '  id text PRIMARY KEY, at INTEGER NOT NULL, open INTEGER CHECK (open IN (0, 1)) NOT NULL DEFAULT false,',
        '  number INTEGER,',
        '  value BLOB',
        ') STRICT, WITHOUT ROWID;',
        'CREATE TABLE line (number INTEGER',
        ') STRICT;',
      ].join('\n'),
    ]);
  });
});
