import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { composeSkein, openStore } from '../compose.ts';
import { readConfig } from '../config/config.ts';
import { makeDemo } from './demo.ts';

const baseUrl = 'http://127.0.0.1:8080';

async function openDemo(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'skein-demo-'));
  const config = readConfig({ SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}` });
  const store = await openStore(config);
  const { useCases, operator } = await composeSkein(config, store, { baseUrl: () => baseUrl });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const greet = () => makeDemo(useCases, operator(), baseUrl, () => () => {});
  return { ...useCases, store, operator, greet };
}

test('a demo is finished by the next start, whichever of its writes the first one did not make', async (t) => {
  const { organizations, members, store, greet } = await openDemo(t);
  for (const name of ['addMember', 'createInvitation', 'putDocument', 'createApiKey'] as const) {
    const write = store[name];
    const stopped = new Error(name);
    Object.assign(store, { [name]: async () => Promise.reject(stopped) });
    await assert.rejects(greet(), stopped);
    Object.assign(store, { [name]: write });
  }
  assert.match((await greet()) ?? '', /eak_/);
  const [demo, ...others] = await organizations.list();
  const [admin, ...colleagues] = await members.list(demo!.id);
  assert.deepEqual([others, colleagues, admin?.keys.length], [[], [], 1]);
  assert.equal(await greet(), undefined);
});

test('an organization that the operator has called Demo is not filled', async (t) => {
  const { organizations, members, operator, greet } = await openDemo(t);
  const organizationId = await organizations.create(operator(), { name: 'Demo' });
  assert.equal(await greet(), undefined);
  assert.deepEqual(await members.list(organizationId), []);
});
