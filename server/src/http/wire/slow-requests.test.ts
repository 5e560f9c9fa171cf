import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { beforeEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { by, note } from '../../../testing/contract/fixture.ts';
import { HttpWorld, readStatus, type Scheme } from '../../../testing/http-world.ts';

for (const scheme of ['http', 'https'] satisfies Scheme[])
  describe(`A read that takes its time, over ${scheme}`, () => {
    const world = new HttpWorld(scheme);

    let release: () => void;
    let isAdmitting: Promise<void>;
    let accepted: Socket;
    let admissions: number;
    beforeEach(async () => {
      world.client.socket.destroy();
      world.app.server.once(world.isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
        accepted = socket;
      });
      world.client = world.open();
      await world.client.exchange(world.getThread());
      const { admitKey } = world.store;
      const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      isAdmitting = started.promise;
      release = () => {
        world.store.admitKey = admitKey;
        gate.resolve();
      };
      admissions = 0;
      world.store.admitKey = async (...values) => {
        admissions += 1;
        started.resolve();
        await gate.promise;
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
      for (let turns = 0; turns < 20; turns += 1) await nextTurn();
      assert.equal(admissions, 1);
      release();
      assert.match(await world.client.response(), /"thread":/);
      assert.match(await world.client.response(), /"threads":/);
      assert.match(await world.client.response(), /"thread":/);
      assert.equal(readStatus(await world.client.exchange(world.getThread())), '200');
    });

    it('delays them if it is rejected', async () => {
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
      assert.equal(readStatus(await world.client.response()), '404');
      assert.equal(readStatus(await world.client.response()), '200');
    });

    // Over TLS, Node closes both sides.
    if (!world.isTls)
      it('sends the response to a client that has closed its side', async () => {
        world.client.socket.end(world.getThread(), 'latin1');
        await isAdmitting;
        while (!accepted.readableEnded) await nextTurn();
        release();
        assert.equal(readStatus(await world.client.response()), '200');
        while (!world.client.isEnded) await nextTurn();
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
      assert.match(await world.client.response(), /^HTTP\/1.1 200 OK\r\n(?:.+\r\n)*connection: close\r\n/i);
      while (!world.client.isEnded) await nextTurn();
      await closed;
    });
  });
