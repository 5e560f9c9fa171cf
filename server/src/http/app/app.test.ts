import assert from 'node:assert/strict';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { openLog, openSkein } from '../../compose.ts';
import { readConfig } from '../../config/config.ts';

type Flood = (index: number) => InjectOptions;

describe('A caller who sends many requests at once', () => {
  let folder: string;
  let app: FastifyInstance;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skein-app-'));
    const config = readConfig({ SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}` });
    const skein = await openSkein(config, { baseUrl: () => 'http://skein.example' });
    app = await skein.composeApp(await openLog('silent'));
    app.get('/unreadable', (_request, reply) =>
      reply.code(404).send(createReadStream(join(folder, 'missing'))),
    );
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** How many of the flood were answered before a request of another caller that came last. */
  async function answeredBefore(flood: Flood, other: InjectOptions, count = 100): Promise<number> {
    const answered: string[] = [];
    const send = async (name: string, options: InjectOptions) => {
      await app.inject(options);
      answered.push(name);
    };
    const sent = Array.from({ length: count }, (_, index) => send('flood', flood(index)));
    await Promise.all([...sent, send('other', other)]);
    return answered.indexOf('other');
  }

  const session = { url: '/console/session', remoteAddress: '192.0.2.2' };
  const remoteAddress = '192.0.2.1';
  const floods: Record<string, Flood> = {
    'without a session': () => ({ ...session, remoteAddress }),
    'with one cookie': () => ({ ...session, remoteAddress, headers: { cookie: 'skein=a' } }),
    'with a cookie each': (index) => ({
      url: '/healthz',
      remoteAddress,
      headers: { cookie: `skein=${index}` },
    }),
    'from an IPv6 address each': (index) => ({ ...session, remoteAddress: `2001:db8::${index}` }),
    'for URLs that do not exist': () => ({ url: '/nothing', remoteAddress }),
    'with an invalid key': () => ({
      url: '/api/v1/threads',
      headers: { authorization: 'Bearer eak_' },
      remoteAddress,
    }),
    'with an invalid key and a body that is still arriving': () => ({
      method: 'POST',
      url: '/api/v1/threads',
      headers: { authorization: 'Bearer eak_', 'content-length': '100000' },
      payload: new Readable({ read() {} }),
      remoteAddress,
    }),
  };
  for (const [name, flood] of Object.entries(floods))
    it(`delays others by a few of them: ${name}`, async () => {
      assert.ok((await answeredBefore(flood, session)) < 10);
    });

  it('delays others by a few of them even if thousands wait', async () => {
    const flood = floods['for URLs that do not exist']!;
    assert.ok((await answeredBefore(flood, session, 2500)) < 40);
  });

  it('does not end the process if a file that is sent with an error cannot be read', async () => {
    const flood = Array.from({ length: 100 }, () => app.inject('/console/session'));
    const { statusCode } = await app.inject('/unreadable');
    assert.equal(statusCode, 500);
    await Promise.all(flood);
  });
});
