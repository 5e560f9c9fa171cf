import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { by, note } from '../../testing/contract/fixture.ts';
import { RepeatedReadsWorld, type Scheme, statusOf } from '../../testing/repeated-reads-world.ts';
import type { Store } from '../storage/store.ts';

for (const scheme of ['http', 'https'] satisfies Scheme[])
  describe(`A repeated read that takes its time, over ${scheme}`, () => {
    const world = new RepeatedReadsWorld(scheme);

    describe('while it is being answered', () => {
      let release: () => void;
      let isAdmitting: Promise<void>;
      let accepted: Socket;
      beforeEach(async () => {
        world.client.socket.destroy();
        world.app.server.once(world.isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
          accepted = socket;
        });
        world.client = world.open();
        await world.repeat(world.getThread());
        const { admitKey } = world.store;
        const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        isAdmitting = started.promise;
        release = gate.resolve;
        world.store.admitKey = async (...values) => {
          started.resolve();
          await gate.promise;
          world.store.admitKey = admitKey;
          return admitKey(...values);
        };
      });

      async function received(bytes: number): Promise<void> {
        while (accepted.bytesRead < bytes) await nextTurn();
      }

      it('delays requests that arrive meanwhile', async () => {
        const list = world.head('GET /api/v1/threads');
        const bytes = accepted.bytesRead + 2 * world.getThread().length + list.length;
        world.client.send(world.getThread());
        await isAdmitting;
        world.client.send(list + world.getThread());
        await received(bytes);
        assert.equal(await world.parsedBy(nextTurn), 0);
        release();
        assert.match(await world.client.response(), /"thread":/);
        assert.match(await world.client.response(), /"threads":/);
        assert.match(await world.client.response(), /"thread":/);
        assert.equal(statusOf(await world.client.exchange(world.getThread())), '200');
      });

      it('delays them even if it has to be parsed after all', async () => {
        await world.store.deleteThread(
          world.organizationId,
          world.threadId as never,
          note('thread.deleted', world.userId, { authority: by(world.userId) }),
        );
        world.client.send(world.getThread());
        await isAdmitting;
        world.client.send(world.head('GET /api/v1/threads'));
        await received(accepted.bytesRead);
        release();
        assert.equal(statusOf(await world.client.response()), '404');
        assert.equal(statusOf(await world.client.response()), '200');
      });

      // Over TLS, Node closes both sides.
      if (!world.isTls)
        it('sends the response to a client that has closed its side', async () => {
          const parsed = await world.parsedBy(async () => {
            world.client.socket.end(world.getThread(), 'latin1');
            await isAdmitting;
            while (!accepted.readableEnded) await nextTurn();
            release();
            assert.equal(statusOf(await world.client.response()), '200');
            while (!world.client.isEnded) await nextTurn();
          });
          assert.equal(parsed, 0);
        });

      it('sends the response, which closes the connection, before the service stops', async () => {
        const other = await world.listen();
        world.client = world.open(other);
        release();
        for (let count = 0; count < 3; count += 1) await world.client.exchange(world.getThread());
        const { admitKey } = world.store;
        const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        world.store.admitKey = async (...values) => {
          started.resolve();
          await gate.promise;
          return admitKey(...values);
        };
        world.client.send(world.getThread());
        await started.promise;
        world.store.admitKey = admitKey;
        const closed = other.close();
        await nextTurn();
        gate.resolve();
        assert.match(await world.client.response(), /^HTTP\/1.1 200 OK\r\nconnection: close\r\n/);
        while (!world.client.isEnded) await nextTurn();
        await closed;
      });
    });

    describe('while its response waits to be sent', () => {
      let service: FastifyInstance;
      let accepted: Socket;
      let read: string;
      let admitKey: Store['admitKey'];
      let admissions: number;
      beforeEach(async () => {
        // More than Node takes before it stops reading.
        const created = await world.client.exchange(world.post(`{"prompt":"${'long '.repeat(16_000)}"}`));
        world.client.socket.destroy();
        read = world.head(`GET /api/v1/threads/${/"id":"(thr_\w+)"/.exec(created)![1]}`);
        service = await world.listen();
        service.server.once(world.isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
          accepted = socket;
        });
        world.client = world.open(service);
        for (let count = 0; count < 3; count += 1) await world.client.exchange(read);
        // As if the client did not read.
        accepted.cork();
        world.client.send(read);
        while (accepted.writableLength === 0) await nextTurn();
        ({ admitKey } = world.store);
        admissions = 0;
        world.store.admitKey = (...values) => {
          admissions += 1;
          return admitKey(...values);
        };
      });
      afterEach(async () => {
        world.store.admitKey = admitKey;
        world.client.socket.destroy();
        await service.close();
      });

      async function sendMore(bytes: string): Promise<void> {
        world.client.send(bytes);
        for (let turns = 0; turns < 50; turns += 1) await nextTurn();
      }

      it('delays requests that arrive meanwhile, so that a client that does not read gets one response', async () => {
        const list = world.head('GET /api/v1/threads?limit=1');
        await sendMore(list.repeat(2));
        await sendMore(list);
        await sendMore(read);
        assert.equal(admissions, 0);
        accepted.uncork();
        assert.match(await world.client.response(), /"thread":/);
        for (let count = 0; count < 3; count += 1) assert.match(await world.client.response(), /"threads":/);
        assert.match(await world.client.response(), /"thread":/);
      });

      it('gives the client as long to read as after a parsed request', async () => {
        assert.equal(accepted.timeout, service.server.timeout);
        accepted.uncork();
        assert.match(await world.client.response(), /"thread":/);
        assert.notEqual(accepted.timeout, service.server.timeout);
        assert.equal(statusOf(await world.client.exchange(read)), '200');
      });

      it('sends the whole response before the service stops', async () => {
        const closed = service.close();
        for (let turns = 0; turns < 50; turns += 1) await nextTurn();
        accepted.uncork();
        assert.match(await world.client.response(), /"thread":.*}$/s);
        while (!world.client.isEnded) await nextTurn();
        world.client.socket.destroy();
        await closed;
      });
    });
  });
