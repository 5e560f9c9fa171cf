import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { World } from '../../../testing/contract/fixture.ts';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import { openPostgresStore } from './open.ts';

const leaseMs = 60_000;

/** Forwards everything, but breaks the connection when the next answer to `statement` arrives: it has been committed. */
class LosingProxy {
  statement: string | undefined;
  readonly #server: Server;

  constructor(databaseUrl: string) {
    const { hostname, port } = new URL(databaseUrl);
    this.#server = createServer((client) => {
      const database = connect(Number(port), hostname);
      let isLost = false;
      client.on('data', (chunk) => {
        if (this.statement !== undefined && chunk.includes(this.statement)) {
          this.statement = undefined;
          isLost = true;
        }
        database.write(chunk);
      });
      database.on('data', (chunk) => (isLost ? client.destroy() : client.write(chunk)));
      client.on('error', () => {}).on('close', () => database.destroy());
      database.on('error', () => {}).on('close', () => client.destroy());
    });
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }
}

describe('A claim whose response is lost', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  let proxy: LosingProxy;
  let world: World;
  before(async () => {
    database = await openTestDatabase();
    proxy = new LosingProxy(database.url);
    const url = new URL(database.url);
    url.port = String(await proxy.listen());
    world = await World.open((clock) => openPostgresStore(url.href, poolSettings, clock));
  });
  after(async () => {
    await world.close();
    proxy.close();
    await database.close();
  });

  it('is released by the next sweep without counting a crash', async () => {
    const organization = await world.organization();
    await world.thread(organization, await world.member(organization));
    proxy.statement = 'claim-replies-usual';
    await assert.rejects(world.claim(leaseMs));
    assert.deepEqual(await world.claim(leaseMs), [], 'the database has made the claim');
    const swept = await world.store.sweepReplies({ leases: true });
    assert.deepEqual(swept, { failed: [], crashed: [] });
    const [claimed] = await world.claim(leaseMs);
    assert.equal(claimed?.attempts, 0);
    // A claim that was answered is kept.
    assert.deepEqual(await world.sweep(), []);
    assert.deepEqual(await world.claim(leaseMs), []);
  });
});
