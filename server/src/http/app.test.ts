import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { composeApp, openContext, openLog } from '../compose.ts';
import { readConfig } from '../config/config.ts';

describe('A caller who sends a hundred requests at once', () => {
  let folder: string;
  let app: FastifyInstance;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skein-app-'));
    const config = readConfig({ SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}` });
    const context = await openContext(config, { baseUrl: () => 'http://skein.example' });
    app = await composeApp(config, context, await openLog('silent'));
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** How many of the hundred were answered before a request of another caller that came last. */
  async function answeredBefore(flood: InjectOptions, other: InjectOptions): Promise<number> {
    const answered: string[] = [];
    const send = async (name: string, options: InjectOptions) => {
      await app.inject(options);
      answered.push(name);
    };
    await Promise.all([...Array.from({ length: 100 }, () => send('flood', flood)), send('other', other)]);
    return answered.indexOf('other');
  }

  const session = { url: '/console/session', remoteAddress: '192.0.2.2' };
  const floods: Record<string, InjectOptions> = {
    'without a session': { ...session, remoteAddress: '192.0.2.1' },
    'with a cookie': { ...session, headers: { cookie: 'skein=a' } },
    'for addresses that do not exist': { url: '/nothing', remoteAddress: '192.0.2.1' },
    'with an invalid key': {
      url: '/api/v1/threads',
      headers: { authorization: 'Bearer eak_' },
      remoteAddress: '192.0.2.1',
    },
  };
  for (const [name, flood] of Object.entries(floods))
    it(`delays others by a few of them: ${name}`, async () => {
      assert.ok((await answeredBefore(flood, session)) < 10);
    });
});
