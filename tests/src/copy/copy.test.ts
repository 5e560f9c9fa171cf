import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { query, testDatabase } from '../../harness/postgres/databases.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { cleanEnvironment, launcher, runCommand } from '../../harness/service/service.ts';
import { type Made, prepareStore } from '../../harness/world/world.ts';
import { signPeopleIn } from './people-facts.ts';
import {
  collectFacts,
  type Held,
  nothingHeldBut,
  operate,
  type Served,
  serveStore,
  work,
} from './store-facts.ts';

/** Enough further threads that a copy into a file can be killed before it ends. */
const manyThreads = 6_000;

const origin = 'sqlite:./data/skein.db';
let folder: string;
let made: Made;
/** A copy of the first store. No process has it open. */
let source: string;
let postgres: string;

const copy = (from: string, to: string) => runCommand(folder, ['copy', '--from', from, '--to', to, '--json']);

async function copied(from: string, to: string): Promise<any> {
  const { exitCode, stdout, stderr } = await copy(from, to);
  assert.equal(exitCode, 0, stderr);
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

async function refused(from: string, to: string): Promise<string> {
  const { exitCode, stdout, stderr } = await copy(from, to);
  assert.equal(exitCode, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /^skein: [^\n]+\.\n$/, 'one line');
  return stderr;
}

before(async () => {
  ({ folder, ...made } = await prepareStore());
  const guide = join(folder, 'guide.md');
  writeFileSync(guide, '# Refunds\n\nA refund takes five days.\n\n## Limits\n\nAt most 500 euros.\n');
  await operate(folder, origin, 'doc', 'add', made.acme, guide);
});

describe('skein copy', () => {
  let held: Held;
  let served: Served;
  let facts: unknown;
  before(async () => {
    held = nothingHeldBut(await signPeopleIn(folder, made));
    served = await serveStore(folder, origin, made);
    await work(served, held, 'first');
    facts = await collectFacts(served, held);
  });
  after(() => served.service.end('SIGKILL'));

  /** Copies the served store and checks that the copy holds the same facts. */
  async function move(from: string, to: string): Promise<void> {
    assert.equal(await served.service.end(), 0);
    const { tables } = await copied(from, to);
    assert.ok(tables.every(({ rows, checksum }: any) => rows > 0 && /^[0-9a-f]{64}$/.test(checksum)));
    served = await serveStore(folder, to, made);
    assert.deepEqual(await collectFacts(served, held), facts);
  }

  async function workOn(round: string): Promise<void> {
    await work(served, held, round);
    facts = await collectFacts(served, held);
  }

  it('rejects a file that is in use as source or target', async () => {
    await operate(folder, 'sqlite:./idle.db', 'org', 'create', 'Initech');
    const [asSource, asTarget] = await Promise.all([
      refused(origin, 'sqlite:./unused.db'),
      refused('sqlite:./idle.db', origin),
    ]);
    assert.match(asSource, /--from points to .*data\/skein\.db, which is in use: stop/);
    assert.match(asTarget, /--to points to .*data\/skein\.db, which is in use: stop/);
    assert.ok(!existsSync(join(folder, 'unused.db')));
  });

  it('copies everything to PostgreSQL, where keys, tokens and cursors keep working', {
    timeout: 600_000,
  }, async () => {
    postgres = await testDatabase();
    await move(origin, postgres);
  });

  it('rejects a database that is in use', async () => {
    assert.match(
      await refused(postgres, 'sqlite:./unused.db'),
      /--from points to a database that is in use: stop/,
    );
    assert.ok(!existsSync(join(folder, 'unused.db')));
  });

  it('copies everything back when threads of two organizations have the same number', {
    timeout: 600_000,
  }, async () => {
    await workOn('second');
    const numbers = 'SELECT sequence FROM thread GROUP BY sequence HAVING count(*) > 1';
    assert.ok((await query(postgres, numbers)).length > 0, 'two threads have the same number');
    assert.ok((await query(postgres, numbers.replace('thread', 'thread_move'))).length > 0);
    await move(postgres, 'sqlite:./back.db');
  });

  it('copies everything within one engine', { timeout: 600_000 }, async () => {
    await workOn('third');
    await move('sqlite:./back.db', 'sqlite:./again.db');
    const numbersIn = (name: string) => {
      const database = new DatabaseSync(join(folder, name), { readOnly: true });
      const numbers = database.prepare('SELECT id, sequence FROM thread ORDER BY id').all();
      database.close();
      return numbers;
    };
    assert.deepEqual(numbersIn('again.db'), numbersIn('back.db'), 'walks refer to the numbers of threads');
    assert.equal(await served.service.end(), 0);
    const between = await testDatabase();
    await copied('sqlite:./again.db', between);
    source = await testDatabase();
    served = await serveStore(folder, 'sqlite:./again.db', made);
    await move(between, source);
    assert.equal(await served.service.end(), 0);
    assert.equal(held.cursors.length, 6);
    assert.ok(held.cursors.every(({ restOfWalk }) => restOfWalk.length > 3));
  });

  describe('when a copy was interrupted', () => {
    let whole: any;
    before(async () => {
      whole = await copied(source, await testDatabase());
    });

    it('does not open the target until the next run has copied everything from the start', {
      timeout: 600_000,
    }, async () => {
      const target = await interruptedCopy();
      const { exitCode, stderr } = await runCommand(folder, ['org', 'list'], { SKEIN_DATABASE_URL: target });
      assert.equal(exitCode, 1);
      assert.match(stderr, /^skein: .*unfinished copy: run skein copy again, which starts over.*\n$/);
      assert.match(await refused(target, 'sqlite:./unused.db'), /--from points to .*unfinished copy/);
      assert.deepEqual((await copied(source, target)).tables, whole.tables);
      assert.equal((await operate(folder, target, 'doctor')).healthy, true);
    });

    it('copies rows that were added to the source after the interruption', { timeout: 600_000 }, async () => {
      const outdated = await interruptedCopy();
      await operate(folder, source, 'org', 'create', 'Initech');
      const { tables } = await copied(source, outdated);
      assert.equal(countRows(tables, 'organization'), countRows(whole.tables, 'organization') + 1);
    });

    it('also copies everything from the start into a file', { timeout: 600_000 }, async () => {
      await addManyThreads(source);
      const file = join(folder, 'large.db');
      const killed = startCopy(`sqlite:${file}`);
      await eventually(
        () => existsSync(file) && statSync(file).size > 2_000_000,
        (isCopying) => isCopying,
      );
      await kill(killed);
      const { exitCode, stderr } = await runCommand(folder, ['org', 'list'], {
        SKEIN_DATABASE_URL: `sqlite:${file}`,
      });
      assert.equal(exitCode, 1);
      assert.match(stderr, /unfinished copy/);
      const { tables } = await copied(source, `sqlite:${file}`);
      assert.equal(countRows(tables, 'thread'), countRows(whole.tables, 'thread') + manyThreads);
      for (const { table, rows } of tables) {
        const [{ count }] = await query(source, `SELECT count(*) FROM "${table}"`);
        assert.equal(rows, Number(count), table);
      }
      assert.equal((await operate(folder, `sqlite:${file}`, 'doctor')).healthy, true);
    });
  });

  it('finds a row of the target that differs from the source', { timeout: 600_000 }, async () => {
    const hold = await CopyHold.on(await testDatabase());
    const running = copy(postgres, hold.target);
    await hold.reached();
    const changed = await query(hold.target, "UPDATE thread SET title = 'Another' RETURNING id");
    assert.ok(changed.length > 0, 'the threads had been copied');
    await hold.release();
    const { exitCode, stderr } = await running;
    assert.equal(exitCode, 1);
    assert.match(stderr, /^skein: The copy differs from the source in the table thread: run .* again\.\n$/);
    const opened = await runCommand(folder, ['org', 'list'], { SKEIN_DATABASE_URL: hold.target });
    assert.match(opened.stderr, /unfinished copy/);
    await copied(postgres, hold.target);
  });

  it('rejects a target that is not empty', async () => {
    assert.match(await refused(origin, 'sqlite:./back.db'), /The target is not empty/);
    assert.match(await refused('sqlite:./back.db', postgres), /The target is not empty/);
  });

  it('rejects a database with settings under which no service would start', async () => {
    const target = await testDatabase();
    const name = new URL(target).pathname.slice(1);
    await query(target, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    assert.match(
      await refused('sqlite:./back.db', target),
      /--to points to a database that cannot be opened \(default_transaction_isolation is 'serializable': set it/,
    );
  });

  it('leaves a source without a store unchanged', async () => {
    const database = await testDatabase();
    writeFileSync(join(folder, 'empty.db'), '');
    for (const empty of [database, 'sqlite:./empty.db'])
      assert.match(
        await refused(empty, 'sqlite:./unused.db'),
        /--from points to .*it does not contain a Skein store/,
      );
    assert.equal(statSync(join(folder, 'empty.db')).size, 0);
    assert.deepEqual(await query(database, "SELECT to_regclass('schema_version') AS made"), [{ made: null }]);
    assert.ok(!existsSync(join(folder, 'unused.db')));
  });

  it('names a row that refers to a missing one', async () => {
    await operate(folder, 'sqlite:./damaged.db', 'org', 'create', 'Initech');
    const damaged = new DatabaseSync(join(folder, 'damaged.db'), { enableForeignKeyConstraints: false });
    damaged.exec(`INSERT INTO identity (issuer, subject, user_id) VALUES ('i', 's', 'usr_gone')`);
    damaged.close();
    const reason = /The row i, s of the table identity cannot be copied \(.*foreign key constraint.*\)/i;
    assert.match(await refused('sqlite:./damaged.db', 'sqlite:./whole.db'), reason);
    assert.match(await refused('sqlite:./damaged.db', await testDatabase()), reason);
  });

  it('explains in one sentence what is wrong with a URL and never shows a password', async () => {
    const url = new URL(source);
    url.password = 'hunter2';
    const wrong = await Promise.all([
      refused('mysql://root:hunter2@localhost/x', origin),
      refused(origin, 'sqlite'),
      refused('sqlite:./back.db', 'postgres://u:hunter2@127.0.0.1:1/x'),
      refused('sqlite:./again.db', url.href),
      refused('sqlite:./nowhere.db', source),
      refused(origin, 'sqlite:data/skein.db'),
      refused('sqlite:.', source),
      refused('sqlite:./back.db', 'postgres:///x?host=/nowhere'),
    ]);
    assert.match(wrong[0]!, /--from must be sqlite:FILE or/);
    assert.match(wrong[1]!, /--to must be sqlite:FILE or/);
    assert.match(wrong[2]!, /--to points to a database that cannot be opened/);
    assert.match(wrong[3]!, /--to points to a database that cannot be opened/);
    assert.match(wrong[4]!, /--from points to .*nowhere\.db, which does not exist/);
    assert.match(wrong[5]!, /must be different stores/);
    assert.match(wrong[6]!, /--from points to .*, which cannot be opened \(it is not a file\)/);
    assert.match(wrong[7]!, /cannot be opened \(connect ENOENT [^\n]*: correct the path\)/);
    assert.doesNotMatch(wrong.join(''), /hunter2/);
    assert.ok(!existsSync(join(folder, 'nowhere.db')));
  });
  it('reads the URLs of both stores from variables and files', async () => {
    writeFileSync(join(folder, 'target.url'), `${await testDatabase()}\n`);
    const toDatabase = await runCommand(
      folder,
      ['copy', '--from', 'env:SOURCE_URL', '--to', '@target.url', '--json'],
      { SOURCE_URL: 'sqlite:./back.db' },
    );
    assert.equal(toDatabase.exitCode, 0, toDatabase.stderr);
    writeFileSync(join(folder, 'back.url'), 'sqlite:./from-file.db');
    const back = ['copy', '--from', '@target.url', '--to', '@back.url', '--json'];
    const toFile = await runCommand(folder, back);
    assert.equal(toFile.exitCode, 0, toFile.stderr);
    assert.ok(existsSync(join(folder, 'from-file.db')));
    const threadsIn = ({ stdout }: { stdout: string }) => countRows(JSON.parse(stdout).tables, 'thread');
    assert.ok(threadsIn(toDatabase) > 0);
    assert.equal(threadsIn(toFile), threadsIn(toDatabase));
  });

  it('explains in one sentence what is wrong with a variable or a file, and never shows what they hold', async () => {
    writeFileSync(join(folder, 'wrong.url'), 'mysql://root:hunter2@localhost/x\n');
    writeFileSync(join(folder, 'two.url'), 'postgres://u:hunter2@a/x\npostgres://u:hunter2@b/x\n');
    const environment = { WRONG_URL: 'mysql://root:hunter2@localhost/x', EMPTY_URL: '' };
    const sentences: Record<string, RegExp> = {
      'env:NO_URL': /The variable for --to is not set: export it/,
      'env:EMPTY_URL': /The variable for --to is not set: export it/,
      'env:WRONG_URL': /The variable for --to must be sqlite:FILE or/,
      'env:postgres://u:hunter2@h/x': /--to must be sqlite:FILE or/,
      '@no.url': /Cannot read the file for --to \(ENOENT\): write its path after @/,
      '@.': /Cannot read the file for --to \(EISDIR\)/,
      '@': /Cannot read the file for --to \(ENOENT\)/,
      '@wrong.url': /The file for --to must be sqlite:FILE or/,
      '@two.url': /The file for --to must be a single line/,
      '@postgres://u:hunter2@h/x': /Cannot read the file for --to \(ENOENT\)/,
    };
    for (const [to, sentence] of Object.entries(sentences)) {
      const words = ['copy', '--from', 'sqlite:./back.db', '--to', to];
      const { exitCode, stdout, stderr } = await runCommand(folder, words, environment);
      assert.equal(exitCode, 1, to);
      assert.equal(stdout, '');
      assert.match(stderr, /^skein: [^\n]+\.\n$/, 'one line');
      assert.match(stderr, sentence);
      assert.doesNotMatch(stderr, /hunter2/);
    }
  });
});

/** Writes the rows that the service would write, in two statements. */
async function addManyThreads(url: string): Promise<void> {
  const [member] = await query(url, 'SELECT user_id FROM member WHERE organization_id = $1', [made.acme]);
  const values = [made.acme, manyThreads];
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`;
  await query(
    url,
    `INSERT INTO thread (organization_id, id, sequence, user_id, title, created_at, activity_at, published)
     SELECT $1, ${id('thr')}, 1000000 + n, $3, 'Many ' || n, n, n, false FROM generate_series(1, $2::int) AS n`,
    [...values, member.user_id],
  );
  await query(
    url,
    `INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
     SELECT $1, ${id('thr')}, ${id('msg')}, 'user', repeat('word ', 100), n FROM generate_series(1, $2::int) AS n`,
    values,
  );
}

function countRows(tables: any[], name: string): number {
  return tables.find(({ table }) => table === name).rows;
}

/** Keeps a copy waiting before it writes idempotency keys, when threads and messages are copied. */
class CopyHold {
  readonly target: string;
  readonly #client: pg.Client;

  private constructor(target: string) {
    this.target = target;
    this.#client = new pg.Client({ connectionString: target });
  }

  /** `target` is an empty database. */
  static async on(target: string): Promise<CopyHold> {
    const hold = new CopyHold(target);
    // Creates the schema, and leaves no organization.
    await operate(folder, target, 'org', 'create', 'Temporary');
    await hold.#client.connect();
    await hold.#client.query(`TRUNCATE organization CASCADE;
      SELECT pg_advisory_lock(1);
      CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
      CREATE TRIGGER hold BEFORE INSERT ON idempotency_key EXECUTE FUNCTION wait_for_test()`);
    return hold;
  }

  /** Resolves when the copy waits. */
  async reached(): Promise<void> {
    const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 1";
    await eventually(
      async () => (await this.#client.query(waiting)).rowCount,
      (count) => count === 1,
    );
  }

  async release(): Promise<void> {
    await this.#client.query('SELECT pg_advisory_unlock(1)');
    await this.#client.end();
  }
}

/** A database into which a copy was killed before its end. */
async function interruptedCopy(): Promise<string> {
  const hold = await CopyHold.on(await testDatabase());
  const copying = startCopy(hold.target);
  await hold.reached();
  await kill(copying);
  await hold.release();
  return hold.target;
}

function startCopy(to: string): ChildProcess {
  const words = ['copy', '--from', source, '--to', to];
  const options = { cwd: folder, env: cleanEnvironment({}), stdio: 'ignore' } as const;
  return spawn(launcher, words, options);
}

async function kill(copying: ChildProcess): Promise<void> {
  const ended = once(copying, 'exit');
  copying.kill('SIGKILL');
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL', 'the copy had not ended by itself');
}
