import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { eventually } from './eventually.ts';
import { signPeopleIn } from './people-facts.ts';
import { testDatabase } from './postgres/databases.ts';
import { cleanEnvironment, root, runSkein } from './service.ts';
import { factsOf, type Held, nothingHeldBut, operate, type Served, serveStore, work } from './store-facts.ts';
import { type Made, prepareStore } from './world.ts';

/** Enough further threads that a copy can be killed before it ends. */
const manyThreads = 6_000;

const origin = 'sqlite:./data/skein.db';
let folder: string;
let made: Made;
/** A copy of the first store with many more threads. No process has it open. */
let large: string;
let postgres: string;

const copy = (from: string, to: string) => runSkein(folder, ['copy', '--from', from, '--to', to, '--json']);

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
  assert.match(stderr, /^skein: [^\n]+\.( 'skein help' shows all commands\.)?\n$/, 'one line');
  return stderr;
}

async function query(url: string, text: string, values: unknown[] = []): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
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
    facts = await factsOf(served, held);
  });
  after(() => served.service.end('SIGKILL'));

  /** Copies the served store and checks that the copy holds the same facts. */
  async function move(from: string, to: string): Promise<void> {
    assert.equal(await served.service.end(), 0);
    const { tables } = await copied(from, to);
    assert.ok(tables.every(({ rows, checksum }: any) => rows > 0 && /^[0-9a-f]{64}$/.test(checksum)));
    served = await serveStore(folder, to, made);
    assert.deepEqual(await factsOf(served, held), facts);
  }

  async function workOn(round: string): Promise<void> {
    await work(served, held, round);
    facts = await factsOf(served, held);
  }

  it('rejects a file that is in use as source or target', async () => {
    const [asSource, asTarget] = await Promise.all([
      refused(origin, 'sqlite:./unused.db'),
      refused(await testDatabase(), origin),
    ]);
    assert.match(asSource, /--from names .*data\/skein\.db, which is in use: stop/);
    assert.match(asTarget, /--to names .*data\/skein\.db, which is in use: stop/);
    assert.ok(!existsSync(join(folder, 'unused.db')));
  });

  it('copies everything to PostgreSQL, where keys, tokens and cursors keep working', {
    timeout: 60_000,
  }, async () => {
    postgres = await testDatabase();
    await move(origin, postgres);
  });

  it('rejects a database that is in use', async () => {
    assert.match(
      await refused(postgres, 'sqlite:./unused.db'),
      /--from names a database that is in use: stop/,
    );
    assert.ok(!existsSync(join(folder, 'unused.db')));
  });

  it('copies everything back when threads of two organizations have the same number', {
    timeout: 60_000,
  }, async () => {
    await workOn('second');
    const numbers = 'SELECT sequence FROM thread GROUP BY sequence HAVING count(*) > 1';
    assert.ok((await query(postgres, numbers)).length > 0, 'two threads have the same number');
    assert.ok((await query(postgres, numbers.replace('thread', 'thread_move'))).length > 0);
    await move(postgres, 'sqlite:./back.db');
  });

  it('copies everything within one engine', { timeout: 60_000 }, async () => {
    await workOn('third');
    await move('sqlite:./back.db', 'sqlite:./again.db');
    assert.equal(await served.service.end(), 0);
    const between = await testDatabase();
    await copied('sqlite:./again.db', between);
    large = await testDatabase();
    served = await serveStore(folder, 'sqlite:./again.db', made);
    await move(between, large);
    assert.equal(await served.service.end(), 0);
    assert.equal(held.cursors.length, 6);
    assert.ok(held.cursors.every(({ restOfWalk }) => restOfWalk.length > 3));
  });

  describe('when a copy was interrupted', () => {
    let target: string;
    let whole: any;
    const rowCounts = (tables: any[]) => tables.map(({ table, rows }) => [table, rows]);
    before(async () => {
      await addManyThreads(large);
      whole = await copied(large, await testDatabase());
      target = await testDatabase();
    });

    it('refuses to open the target until the next run has copied everything from the start', {
      timeout: 60_000,
    }, async () => {
      await killCopy(large, target, () => isCopying(target));
      const { exitCode, stderr } = await runSkein(folder, ['org', 'list'], { SKEIN_DATABASE_URL: target });
      assert.equal(exitCode, 1);
      assert.match(stderr, /^skein: .*unfinished copy: run skein copy again, which starts over.*\n$/);
      assert.match(await refused(target, 'sqlite:./unused.db'), /--from names .*unfinished copy/);
      assert.deepEqual((await copied(large, target)).tables, whole.tables);
      assert.equal((await operate(folder, target, 'doctor')).healthy, true);
    });

    it('copies everything from the start into a file, too', { timeout: 60_000 }, async () => {
      const file = join(folder, 'large.db');
      await killCopy(
        large,
        `sqlite:${file}`,
        async () => existsSync(file) && statSync(file).size > 2_000_000,
      );
      const { exitCode, stderr } = await runSkein(folder, ['org', 'list'], {
        SKEIN_DATABASE_URL: `sqlite:${file}`,
      });
      assert.equal(exitCode, 1);
      assert.match(stderr, /unfinished copy/);
      const outcome = await copied(large, `sqlite:${file}`);
      assert.deepEqual(rowCounts(outcome.tables), rowCounts(whole.tables));
      assert.equal((await operate(folder, `sqlite:${file}`, 'doctor')).healthy, true);
    });

    it('copies what the source holds by then', { timeout: 60_000 }, async () => {
      const outdated = await testDatabase();
      await killCopy(large, outdated, () => isCopying(outdated));
      await operate(folder, large, 'org', 'create', 'Initech');
      const { tables } = await copied(large, outdated);
      const organizations = (of: any[]) => of.find(({ table }) => table === 'organization').rows;
      assert.equal(organizations(tables), organizations(whole.tables) + 1);
    });
  });

  it('finds a row of the target that differs from the source', { timeout: 60_000 }, async () => {
    const target = await testDatabase();
    const running = copy(large, target);
    await changeThreadDuringCopy(target);
    const { exitCode, stderr } = await running;
    assert.equal(exitCode, 1);
    assert.match(stderr, /^skein: The copy differs from the source in the table thread: run .* again\.\n$/);
    const opened = await runSkein(folder, ['org', 'list'], { SKEIN_DATABASE_URL: target });
    assert.match(opened.stderr, /unfinished copy/);
    await copied(large, target);
  });

  it('rejects a target that is not empty', async () => {
    assert.match(await refused(origin, 'sqlite:./back.db'), /The target is not empty/);
    assert.match(await refused('sqlite:./back.db', postgres), /The target is not empty/);
  });

  it('explains in one sentence what is wrong with an address and never shows a password', async () => {
    const url = new URL(large);
    url.password = 'hunter2';
    const wrong = await Promise.all([
      refused('mysql://root:hunter2@localhost/x', origin),
      refused(origin, ''),
      refused('sqlite:./back.db', 'postgres://u:hunter2@127.0.0.1:1/x'),
      refused('sqlite:./again.db', url.href),
      refused('sqlite:./nowhere.db', large),
      refused(origin, 'sqlite:data/skein.db'),
    ]);
    assert.match(wrong[0]!, /--from must be sqlite: and a file/);
    assert.match(wrong[1]!, /--to must be sqlite: and a file/);
    assert.match(wrong[2]!, /--to names a database that cannot be opened/);
    assert.match(wrong[3]!, /--to names a database that cannot be opened/);
    assert.match(wrong[4]!, /--from names .*nowhere\.db, which does not exist/);
    assert.match(wrong[5]!, /name the same store/);
    assert.doesNotMatch(wrong.join(''), /hunter2/);
    assert.ok(!existsSync(join(folder, 'nowhere.db')));
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

async function isMarked(target: string): Promise<boolean> {
  const [found] = await query(target, "SELECT to_regclass('unfinished_copy') IS NOT NULL AS marked");
  return found.marked;
}

async function isCopying(target: string): Promise<boolean> {
  if (!(await isMarked(target))) return false;
  const [{ copying }] = await query(target, 'SELECT EXISTS (SELECT FROM message) AS copying');
  return copying;
}

/** Changes a copied thread while a lock keeps the copy from finishing its messages. */
async function changeThreadDuringCopy(target: string): Promise<void> {
  await eventually(
    () => isMarked(target),
    (marked) => marked,
  );
  const client = new pg.Client({ connectionString: target });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('LOCK TABLE message IN SHARE MODE');
    const change = "UPDATE thread SET title = 'Another' WHERE title = 'Many 7'";
    await eventually(
      async () => (await client.query(change)).rowCount,
      (changed) => changed === 1,
    );
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

async function killCopy(from: string, to: string, isRunning: () => Promise<boolean>): Promise<void> {
  const child: ChildProcess = spawn(
    join(root, 'node_modules/.bin/skein'),
    ['copy', '--from', from, '--to', to],
    { cwd: folder, env: cleanEnvironment({}), stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  await eventually(isRunning, (yes) => yes);
  child.kill('SIGKILL');
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL', 'the copy had not ended by itself');
}
