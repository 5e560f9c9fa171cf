import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { Api } from '../../harness/http/api.ts';
import { dropDatabase, testDatabase } from '../../harness/postgres/databases.ts';
import { operate, root, runSkein, Service, temporaryFolder } from '../../harness/service/service.ts';
import { exchange } from '../../harness/world/applications.ts';

const baselines = join(root, 'tests/baselines');
const unpacked = (name: string) => gunzipSync(readFileSync(join(baselines, name)));

/** Puts a stored baseline where a service can open it. Returns its URL. */
const restore = {
  async sqlite(version: string, folder: string): Promise<string> {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data/skein.db'), unpacked(`${version}.sqlite.db.gz`));
    return 'sqlite:./data/skein.db';
  },
  async postgres(version: string): Promise<string> {
    const url = await testDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(unpacked(`${version}.postgres.sql.gz`).toString()).finally(() => client.end());
    return url;
  },
};

for (const file of globSync('*.json', { cwd: baselines }).sort()) {
  const version = basename(file, '.json');
  const facts = JSON.parse(readFileSync(join(baselines, file), 'utf8'));
  for (const engine of ['sqlite', 'postgres'] as const) {
    describe(`A store that ${version} wrote on ${engine}, upgraded by this release`, () => {
      const folder = temporaryFolder();
      const { key, application, deleted, cursor, threads } = facts[engine];
      let environment: Record<string, string>;
      let service: Service;
      let api: Api;
      before(async () => {
        environment = { SKEIN_DATABASE_URL: await restore[engine](version, folder) };
        service = await Service.start({ folder, environment });
        api = new Api(service.baseUrl, key);
      });
      after(async () => {
        await service?.end();
        if (engine === 'postgres') await dropDatabase(environment.SKEIN_DATABASE_URL as string);
      });

      it('has every thread and message unchanged, in the same order', async () => {
        assert.ok(threads.length >= 3);
        const listed = await api.walk({});
        assert.deepEqual(
          listed.map(({ id }) => id),
          threads.map(({ thread }: any) => thread.id),
        );
        for (const { thread, messages } of threads) {
          const { body } = await api.get(thread.id);
          const { threadUrl, ...rest } = body.thread;
          assert.deepEqual({ thread: rest, messages: body.messages }, { thread, messages });
        }
        assert.equal((await api.get(deleted)).status, 404);
      });

      it('accepts the existing credentials and cursors', async () => {
        assert.equal((await api.list({ limit: 1, cursor })).status, 200);
        const token = await exchange(service.baseUrl, application);
        assert.equal((await new Api(service.baseUrl, token).list()).status, 200);
      });

      it('answers questions from the existing documents', async () => {
        const { body } = await api.create({ prompt: 'How long does a refund take?' });
        const { messages } = await api.untilDone(body.thread.id);
        assert.match(messages[1].content, /five days/);
        await api.delete(body.thread.id);
      });

      it('passes every check of the doctor', async () => {
        const { exitCode, stdout } = await runSkein(folder, ['doctor'], environment);
        assert.equal(exitCode, 0, stdout);
        const members = await operate(folder, ['member', 'list', 'Acme'], environment);
        assert.equal(members.length, 1);
      });
    });
  }
}
