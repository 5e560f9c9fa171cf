import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { committedFile, parseStatements, renderStatements } from '../../testing/committed-statements.ts';
import { openTestDatabase, poolSettings } from '../../testing/contract/postgres-database.ts';
import './postgres/archive.ts';
import { numbered } from './postgres/database.ts';
import { openPostgresStore } from './postgres/open.ts';
import { type Dialect, statements } from './sql/sql.ts';
import './sqlite/archive.ts';
import { openDatabase } from './sqlite/database.ts';
import { openSqliteStore } from './sqlite/open.ts';
import { positioned } from './sqlite/transactions.ts';

const fragmentsMax = 4;
/** Walks and sweeps, which are generated. */
const generated = /^(?:firstPage|laterPage|moves) |^(?:find|lock|sweep)-(?:overdue|expired)-replies$/;
const isRewriting = process.env.SKEIN_TEST_WRITE_STATEMENTS === '1';

describe('The statements', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-statements-'));
  const file = join(folder, 'skein.db');
  let database: Awaited<ReturnType<typeof openTestDatabase>>;

  before(async () => {
    database = await openTestDatabase();
    await openSqliteStore(file).close();
    await (await openPostgresStore(database.url, poolSettings)).close();
  });
  after(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });

  for (const dialect of ['sqlite', 'postgres'] satisfies Dialect[]) {
    it(`are committed as they run on ${dialect}, each under its file and name`, () => {
      const text = renderStatements(dialect);
      if (isRewriting) writeFileSync(committedFile(dialect), text);
      const committed = readFileSync(committedFile(dialect), 'utf8');
      assert.ok(committed === text, `${committedFile(dialect)} is out of date: run npm run statements`);
      const names = [...parseStatements(committed).keys()];
      assert.deepEqual(names.toSorted(), [...statements[dialect].keys()].toSorted());
    });
  }

  it('are valid on SQLite', () => {
    const sqlite = openDatabase(file);
    for (const statement of statements.sqlite.values()) {
      const { text } = positioned(statement);
      assert.doesNotThrow(() => sqlite.prepare(text), statement.name);
    }
    sqlite.close();
  });

  it('are valid on PostgreSQL', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const [index, statement] of [...statements.postgres.values()].entries()) {
      const { text } = numbered(statement);
      // CREATE TABLE AS cannot be prepared by name.
      const prepare = text.startsWith('CREATE') ? `EXPLAIN ${text}` : `PREPARE statement_${index} AS ${text}`;
      await client.query(prepare).catch((error: Error) => {
        throw new Error(`${statement.name}: ${error.message}`, { cause: error });
      });
    }
    await client.end();
  });

  it(`consist of at most ${fragmentsMax} fragments`, () => {
    const all = Object.values(statements).flatMap((each) => [...each.values()]);
    const written = all.filter(({ name }) => !generated.test(name));
    const long = written.filter(({ fragmentCount }) => fragmentCount > fragmentsMax);
    const found = long.map(({ name, fragmentCount }) => `${name} has ${fragmentCount}`);
    assert.deepEqual([...new Set(found)], [], 'write these statements out');
  });
});
