import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import { retentionKinds } from '../../domain/retention.ts';
import { migrationsFolder, readMigrations } from '../migrations/migrations.ts';
import { nameCredentials } from '../sql/api-keys.ts';
import { listAudit, listAuditOfTrace } from '../sql/audit.ts';
import { listMembers } from '../sql/organizations.ts';
import { retentionStatements, threadStatements } from '../sql/retention.ts';
import { copySqliteFile, type Database, openDatabase } from './database.ts';
import { sqliteRemoval } from './purge.ts';
import { sqliteText } from './transactions.ts';
import { listings } from './walks.ts';

/** How SQLite would run the statement, step by step. */
function explainPlan(database: Database, sql: string): string[] {
  return database
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll(/:\w+/g, '1')}`)
    .all()
    .map(({ detail }) => detail);
}

describe('The SQLite database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-database-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('creates a missing file with its folders and opens it again', () => {
    const file = join(folder, 'a/b/x.db');
    openDatabase(file).close();
    const database = openDatabase(file);
    assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
    assert.ok(Number(database.pragma('user_version', { simple: true })) > 0);
    database.close();
  });

  it('lets only the owner read the file and the folders created for it', () => {
    const file = join(folder, 'own/deep/x.db');
    const database = openDatabase(file);
    const readMode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    for (const path of [join(folder, 'own'), join(folder, 'own/deep')]) assert.equal(readMode(path), '700');
    for (const path of [file, `${file}-wal`, `${file}-shm`]) assert.equal(readMode(path), '600');
    database.close();
  });

  it('rejects a path that is not a file, without waiting for a pipe', () => {
    const pipe = join(folder, 'pipe.db');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, folder]) assert.throws(() => openDatabase(path), /it is not a file/);
  });

  it('rejects a file with two names, because each name has its own journal', async () => {
    const [file, secondName] = [join(folder, 'first.db'), join(folder, 'second.db')];
    openDatabase(file).close();
    linkSync(file, secondName);
    assert.throws(
      () => openDatabase(secondName),
      /it has a second name \(a hard link\): remove one of the names/,
    );
    await assert.rejects(
      copySqliteFile(secondName, join(folder, 'copy.db'), () => {}),
      /it has a second name/,
    );
    assert.ok(!existsSync(`${secondName}-wal`));
    unlinkSync(secondName);
    openDatabase(file).close();
  });

  it('does not change a file without a store that must have one', () => {
    const file = join(folder, 'empty.db');
    const open = () => openDatabase(file, { mustExist: true, alone: true });
    assert.throws(open, /unable to open database file/);
    assert.ok(!existsSync(file));
    writeFileSync(file, '');
    assert.throws(open, /it does not contain a Skein store/);
    assert.equal(statSync(file).size, 0);
    openDatabase(file).close();
    open().close();
  });

  it('does not change the database of another program, whatever its version', () => {
    for (const version of [0, 1]) {
      const file = join(folder, `bookmarks-${version}.db`);
      const other = new Sqlite(file);
      other.exec('CREATE TABLE bookmark (url TEXT)');
      other.pragma(`user_version = ${version}`);
      other.close();
      const before = readFileSync(file);
      for (const mustExist of [false, true])
        assert.throws(() => openDatabase(file, { mustExist }), /in use by another program: choose another/);
      assert.deepEqual(readFileSync(file), before);
    }
  });

  it('does not map the file into memory, because truncating a mapped file ends the process', () => {
    const database = openDatabase(join(folder, 'unmapped.db'));
    assert.deepEqual(database.pragma('mmap_size'), [{ mmap_size: 0 }]);
    database.close();
  });

  it('applies a migration that was added since the store was written', () => {
    const file = join(folder, 'older.db');
    openDatabase(file).close();
    const migrations = join(folder, 'migrations');
    cpSync(migrationsFolder, migrations, { recursive: true });
    writeFileSync(join(migrations, '900-add-note.sql'), 'CREATE TABLE note (text TEXT NOT NULL) STRICT;');
    const database = openDatabase(file, { migrations: readMigrations('sqlite', migrations) });
    assert.equal(database.pragma('user_version', { simple: true }), 900);
    assert.deepEqual(database.prepare('SELECT * FROM note').all(), []);
    database.close();
    assert.throws(() => openDatabase(file), /written by a newer release \(schema 900/);
  });

  it('rolls back a migration that fails', () => {
    const file = join(folder, 'failing.db');
    openDatabase(file).close();
    const migrations = join(folder, 'failing-migrations');
    cpSync(migrationsFolder, migrations, { recursive: true });
    writeFileSync(join(migrations, '900-a.sql'), 'CREATE TABLE note (text TEXT NOT NULL) STRICT;');
    writeFileSync(join(migrations, '901-b.sql'), 'INSERT INTO missing VALUES (1);');
    assert.throws(
      () => openDatabase(file, { migrations: readMigrations('sqlite', migrations) }),
      /no such table/,
    );
    const database = openDatabase(file);
    assert.throws(() => database.prepare('SELECT * FROM note'), /no such table/);
    database.close();
  });

  it('rejects a store that a newer release wrote', () => {
    const file = join(folder, 'newer.db');
    const database = openDatabase(file);
    database.pragma('user_version = 999');
    database.close();
    assert.throws(() => openDatabase(file), /newer release/);
  });

  it('reads every page of a listing from covering indexes without scanning threads', () => {
    const database = openDatabase(join(folder, 'plans.db'));
    const names = ['thread_own', 'thread_own_account', 'thread_published', 'thread_published_account'];
    const used = new Set<string>();
    for (const { sql } of Object.values(listings).flatMap((texts) => Object.values(texts))) {
      for (const detail of explainPlan(database, sql)) {
        assert.doesNotMatch(detail, /SCAN (thread|thread_move|message)\b/, sql);
        assert.doesNotMatch(detail, /TEMP B-TREE/, sql);
        for (const name of names) if (detail.includes(`COVERING INDEX ${name} `)) used.add(name);
      }
    }
    assert.deepEqual([...used].sort(), names);
    database.close();
  });

  it('reads every page of the audit log by its key or its trace ID, in order', () => {
    const database = openDatabase(join(folder, 'audit.db'));
    const searches = {
      all: /SEARCH audit_event USING PRIMARY KEY \(organization_id=\? AND at>\? AND \(at,id\)</,
      ofTrace: /USING INDEX audit_event_trace \(organization_id=\? AND trace_id=\? AND at>\? AND \(at,id\)</,
    };
    for (const [name, statement] of Object.entries({ all: listAudit, ofTrace: listAuditOfTrace })) {
      const plan = explainPlan(database, sqliteText(statement));
      assert.match(plan[0]!, searches[name as keyof typeof searches]);
      assert.ok(!plan.some((detail) => /SCAN|TEMP B-TREE/.test(detail)), plan.join('; '));
    }
    database.close();
  });

  it('looks up the names of credentials one by one, never all keys of the organization', () => {
    const database = openDatabase(join(folder, 'names.db'));
    const plan = explainPlan(database, sqliteText(nameCredentials));
    assert.match(
      plan.join('; '),
      /SCAN entry.*api_key USING INDEX api_key_id \(organization_id=\? AND id=\?\)/,
    );
    assert.match(
      plan.join('; '),
      /SEARCH application USING (?:PRIMARY KEY|INDEX \w+) \((?:\w+=\? AND )?id=\?/,
    );
    database.close();
  });

  it('finds the latest invitation of each member by its key, never among all invitations', () => {
    const database = openDatabase(join(folder, 'members.db'));
    const plan = explainPlan(database, sqliteText(listMembers)).join('; ');
    assert.match(plan, /SEARCH latest USING (?:PRIMARY KEY|INDEX \w+) \(organization_id=\? AND user_id=\?\)/);
    assert.doesNotMatch(plan, /invitation_expiry/);
    database.close();
  });

  it('finds expired rows by an index, never by a scan', () => {
    const database = openDatabase(join(folder, 'retention.db'));
    const ofKinds = retentionKinds.map((kind) => retentionStatements(kind, sqliteRemoval));
    const statements = ofKinds.flatMap(({ remove, findOwners }) => [remove, findOwners]);
    statements.push(...Object.values(threadStatements(sqliteRemoval)));
    assert.equal(statements.length, 2 * retentionKinds.length + 4);
    for (const statement of statements) {
      const { name } = statement;
      const plan = explainPlan(database, sqliteText(statement));
      assert.ok(
        plan.some((detail) => detail.startsWith('SEARCH')),
        `${name}: ${plan.join('; ')}`,
      );
      assert.ok(
        !plan.some((detail) => /SCAN (?!json_each|CONSTANT)|TEMP B-TREE/.test(detail)),
        `${name}: ${plan.join('; ')}`,
      );
    }
    database.close();
  });
});
