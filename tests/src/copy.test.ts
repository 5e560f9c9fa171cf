import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { signPeopleIn } from './people-facts.ts';
import { testDatabase } from './postgres/databases.ts';
import { eventually } from './replies/shared-store.ts';
import { cleanEnvironment, root, runSkein } from './service.ts';
import { factsOf, type Held, nothingHeldBut, operate, type Served, serveStore, work } from './store-facts.ts';
import { type Made, prepareStore } from './world.ts';

/** So many more threads, with two messages each, that a copy can be killed in its middle. */
const manyThreads = 6_000;

const origin = 'sqlite:./data/skein.db';
let folder: string;
let made: Made;
/** The first copy, with many threads since; nobody works on it. */
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

  /** Copies what was served, and finds the other store the same. */
  async function move(from: string, to: string): Promise<void> {
    assert.equal(await served.service.end(), 0);
    const { resumed, tables } = await copied(from, to);
    assert.equal(resumed, false);
    assert.ok(tables.every(({ rows, checksum }: any) => rows > 0 && /^[0-9a-f]{64}$/.test(checksum)));
    served = await serveStore(folder, to, made);
    assert.deepEqual(await factsOf(served, held), facts);
  }

  async function goOn(round: string): Promise<void> {
    await work(served, held, round);
    facts = await factsOf(served, held);
  }

  it('refuses a file that is in use, on either side', async () => {
    const [asSource, asTarget] = await Promise.all([
      refused(origin, 'sqlite:./unused.db'),
      refused(await testDatabase(), origin),
    ]);
    assert.match(asSource, /--from names .*data\/skein\.db, which is in use: stop/);
    assert.match(asTarget, /--to names .*data\/skein\.db, which is in use: stop/);
    assert.ok(!existsSync(join(folder, 'unused.db')));
  });

  it('moves everything to PostgreSQL, and what callers hold goes on working', {
    timeout: 60_000,
  }, async () => {
    postgres = await testDatabase();
    await move(origin, postgres);
  });

  it('refuses a database that is in use', async () => {
    assert.match(
      await refused(postgres, 'sqlite:./unused.db'),
      /--from names a database that is in use: stop/,
    );
    assert.ok(!existsSync(join(folder, 'unused.db')));
  });

  it('moves everything back, though each organization has counted by itself since', {
    timeout: 60_000,
  }, async () => {
    await goOn('second');
    const numbers = 'SELECT sequence FROM thread GROUP BY sequence HAVING count(*) > 1';
    assert.ok((await query(postgres, numbers)).length > 0, 'two threads bear the same number');
    assert.ok((await query(postgres, numbers.replace('thread', 'thread_move'))).length > 0);
    await move(postgres, 'sqlite:./back.db');
  });

  it('moves everything within one engine', { timeout: 60_000 }, async () => {
    await goOn('third');
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

  describe('that is killed in its middle', () => {
    let target: string;
    let whole: any;
    before(async () => {
      await addManyThreads(large);
      whole = await copied(large, await testDatabase());
      target = await testDatabase();
    });

    it('leaves a store that serves nobody, goes on with the next run, and ends the same', {
      timeout: 60_000,
    }, async () => {
      await killCopy(large, target, () => isCopying(target));
      const { exitCode, stderr } = await runSkein(folder, ['org', 'list'], { SKEIN_DATABASE_URL: target });
      assert.equal(exitCode, 1);
      assert.match(stderr, /^skein: .*interrupted copy: run the same skein copy again.*\n$/);
      assert.match(await refused(origin, target), /interrupted copy of another store/);
      const outcome = await copied(large, target);
      assert.equal(outcome.resumed, true);
      assert.deepEqual(outcome.tables, whole.tables);
    });

    it('does so into a file as well', { timeout: 60_000 }, async () => {
      const file = join(folder, 'large.db');
      await killCopy(
        large,
        `sqlite:${file}`,
        async () => existsSync(file) && statSync(file).size > 2_000_000,
      );
      const outcome = await copied(large, `sqlite:${file}`);
      assert.equal(outcome.resumed, true);
      const rows = (tables: any[]) => tables.map(({ table, rows: count }) => [table, count]);
      assert.deepEqual(rows(outcome.tables), rows(whole.tables));
      assert.equal((await operate(folder, `sqlite:${file}`, 'doctor')).healthy, true);
    });

    it('finds a row that is no longer as it was copied, and starts over', { timeout: 60_000 }, async () => {
      const tampered = await testDatabase();
      await killCopy(large, tampered, () => isCopying(tampered));
      const changed = await query(
        tampered,
        "UPDATE thread SET title = 'Another' WHERE title = 'Many 7' RETURNING id",
      );
      assert.equal(changed.length, 1);
      assert.match(
        await refused(large, tampered),
        /differs from the source in the table thread: run .* again/,
      );
      const outcome = await copied(large, tampered);
      assert.equal(outcome.resumed, false);
      assert.deepEqual(outcome.tables, whole.tables);
    });

    it('starts over when its source has changed meanwhile', { timeout: 60_000 }, async () => {
      const outdated = await testDatabase();
      await killCopy(large, outdated, () => isCopying(outdated));
      await operate(folder, large, 'org', 'create', 'Initech');
      const outcome = await copied(large, outdated);
      assert.equal(outcome.resumed, false);
      const organizations = (tables: any[]) => tables.find(({ table }) => table === 'organization').rows;
      assert.equal(organizations(outcome.tables), organizations(whole.tables) + 1);
    });
  });

  it('refuses a target that holds anything', async () => {
    assert.match(await refused(origin, 'sqlite:./back.db'), /The target is not empty/);
    assert.match(await refused('sqlite:./back.db', postgres), /The target is not empty/);
  });

  it('says in one sentence what is wrong with an address, and never shows a password', async () => {
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
    assert.match(wrong[4]!, /--from names .*nowhere\.db, which is not there/);
    assert.match(wrong[5]!, /name the same store/);
    assert.doesNotMatch(wrong.join(''), /hunter2/);
    assert.ok(!existsSync(join(folder, 'nowhere.db')));
  });
});

/** Rows as the service writes them, but all at once. */
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

async function isCopying(target: string): Promise<boolean> {
  const [found] = await query(target, "SELECT to_regclass('copy_progress') IS NOT NULL AS begun");
  if (!found.begun) return false;
  const [{ progress }] = await query(target, 'SELECT progress FROM copy_progress');
  return JSON.parse(progress).table === 'message';
}

async function killCopy(from: string, to: string, isUnderWay: () => Promise<boolean>): Promise<void> {
  const child: ChildProcess = spawn(
    join(root, 'node_modules/.bin/skein'),
    ['copy', '--from', from, '--to', to],
    { cwd: folder, env: cleanEnvironment({}), stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  await eventually(isUnderWay, (yes) => yes);
  child.kill('SIGKILL');
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL', 'it had not ended by itself');
}
