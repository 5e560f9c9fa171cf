import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openContext } from '../compose.ts';
import { readConfig } from '../config/config.ts';
import type { Context } from '../usecases/context.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { createOrganization, listOrganizations } from '../usecases/organization/organization.ts';
import { listMembers } from '../usecases/people/members.ts';
import { makeDemo } from './demo.ts';

const baseUrl = 'http://127.0.0.1:8080';

async function openStore(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'skein-demo-'));
  const config = readConfig({ SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}` });
  const context = await openContext(config, { baseUrl: () => baseUrl });
  t.after(async () => {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return context;
}

test('a demo is finished by the next start, whichever of its writes the first one did not make', async (t) => {
  const context = await openStore(t);
  const { store } = context as Context;
  const greet = () => makeDemo(context, baseUrl, () => () => {});
  for (const name of ['addMember', 'createInvitation', 'putDocument', 'createApiKey'] as const) {
    const write = store[name];
    const stopped = new Error(name);
    Object.assign(store, { [name]: async () => Promise.reject(stopped) });
    await assert.rejects(greet(), stopped);
    Object.assign(store, { [name]: write });
  }
  assert.match((await greet()) ?? '', /eak_/);
  const [demo, ...others] = await listOrganizations(context);
  const [admin, ...colleagues] = await listMembers({ context, organizationId: demo!.id });
  assert.deepEqual([others, colleagues, admin?.keys.length], [[], [], 1]);
  assert.equal(await greet(), undefined);
});

test('an organization that the operator has called Demo is not filled', async (t) => {
  const context = await openStore(t);
  const organizationId = await createOrganization(context, operatorInitiator(context), { name: 'Demo' });
  assert.equal(await makeDemo(context, baseUrl, () => () => {}), undefined);
  assert.deepEqual(await listMembers({ context, organizationId }), []);
});
