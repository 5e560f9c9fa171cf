/**
 * `npm run baseline -- VERSION` stores what this release writes on both engines
 * in `tests/baselines`. `upgrade.test.ts` opens each with the current release. Run it once for each release.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { Api } from '../../harness/http/api.ts';
import { dropDatabase, testDatabase } from '../../harness/postgres/databases.ts';
import { operate, root, Service, temporaryFolder } from '../../harness/service/service.ts';

const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('Name the version, as in 1.0.0.');
const baseline = (name: string) => join(root, `tests/baselines/${version}.${name}`);

const folder = temporaryFolder();
const sqlite = await fill('sqlite:./data/skein.db');
await operate(folder, ['backup', 'backup.db']);
writeFileSync(baseline('sqlite.db.gz'), gzipSync(readFileSync(join(folder, 'backup.db')), { level: 9 }));

const url = await testDatabase();
const postgres = await fill(url);
writeFileSync(baseline('postgres.sql.gz'), gzipSync(await dump(url), { level: 9 }));
await dropDatabase(url);

writeFileSync(baseline('json'), `${JSON.stringify({ sqlite, postgres }, null, 2)}\n`);

/** Creates some of everything that outlives an upgrade. Returns what callers hold and have read. */
async function fill(store: string) {
  const environment = { SKEIN_DATABASE_URL: store };
  const skein = (...words: string[]) => operate(folder, words, environment);
  await skein('org', 'create', 'Acme');
  await skein('member', 'add', 'Acme', 'ada@acme.example', '--role', 'admin');
  const { key } = await skein('key', 'create', 'Acme', '--user', 'ada@acme.example');
  const application = await skein('app', 'create', 'Acme', '--name', 'Reports');
  writeFileSync(join(folder, 'refunds.md'), '# Refunds\n\nA refund takes five days.\n');
  await skein('doc', 'add', 'Acme', 'refunds.md');
  const service = await Service.start({ folder, environment });
  const api = new Api(service.baseUrl, key);
  const ids: string[] = [];
  for (const title of ['renamed', 'published', 'deleted', 'of an account']) {
    const account = title === 'of an account' ? { accountId: 'acct-1' } : {};
    const { body } = await api.create({ prompt: 'How long does a refund take?', title, ...account });
    ids.push(body.thread.id);
    await api.untilDone(body.thread.id);
  }
  await api.rename(ids[0] as string, 'renamed since');
  await skein('thread', 'publish', 'Acme', ids[1] as string);
  await api.delete(ids[2] as string);
  const { body: page } = await api.list({ limit: 1 });
  const threads = await Promise.all(
    (await api.walk({})).map(async ({ id }) => {
      const { thread, messages } = (await api.get(id)).body;
      const { threadUrl, ...rest } = thread;
      return { thread: rest, messages };
    }),
  );
  await service.end();
  return { key, application, deleted: ids[2], cursor: page.nextCursor, threads };
}

/** The schema as its migrations make it, and every row as a statement. */
async function dump(database: string): Promise<string> {
  const folderOfMigrations = join(root, 'server/src/storage/migrations');
  const migrations = globSync('*.sql', { cwd: folderOfMigrations }).sort();
  const sqliteParts = /^-- sqlite:\n(?:(?!-- (?:both|postgres):$).*\n)*/gm;
  const schema = migrations.map((name) =>
    readFileSync(join(folderOfMigrations, name), 'utf8').replace(sqliteParts, ''),
  );
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const texts = async (query: string) => (await client.query(query)).rows.map(({ text }) => text as string);
  const lines = ['CREATE TABLE schema_version (version integer NOT NULL);', ...schema];
  lines.push('SET session_replication_role = replica;');
  for (const table of await texts(
    `SELECT table_name AS text FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  )) {
    const columns = await texts(
      `SELECT quote_ident(column_name) AS text FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name = '${table}' AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    );
    const values = columns.map((column) => `quote_nullable(${column}::text)`).join(", ', ', ");
    // A migration may have inserted rows, which the dump has, too.
    lines.push(`DELETE FROM "${table}";`);
    lines.push(
      ...(await texts(
        `SELECT concat('INSERT INTO "${table}" (${columns.join(', ')}) VALUES (', ${values}, ');') AS text FROM "${table}"`,
      )),
    );
  }
  lines.push(
    ...(await texts(
      `SELECT format('SELECT setval(%L, %s, %L);', sequencename, coalesce(last_value, 1), last_value IS NOT NULL) AS text
        FROM pg_sequences WHERE schemaname = 'public'`,
    )),
  );
  await client.end();
  return `${lines.join('\n')}\nRESET session_replication_role;\n`;
}
