import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Signals } from '../../../../runtime/src/pure/signals.ts';
import { machineTimers } from '../../../../runtime/src/timers.ts';
import { by, createPrincipal, newFollowUp, World } from '../../../testing/contract/fixture.ts';
import { done } from '../../../testing/contract/reply-fixture.ts';
import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Message } from '../../domain/message.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Store } from '../../storage/port/store.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createFollowedThreads } from './followed-threads.ts';
import { createThreadReads, type ThreadReads } from './get-thread.ts';

const largePrompt = '長'.repeat(20_000);
const promptBytes = Buffer.byteLength(largePrompt);

describe('Loading a thread', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-get-'));
  let world: World;
  let organizationId: OrganizationId;
  let principal: UserPrincipal;

  before(async () => {
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    organizationId = await world.organization();
    principal = createPrincipal(organizationId, await world.member(organizationId));
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function writeThread(prompts: readonly string[]): Promise<ThreadId> {
    const [first, ...later] = prompts;
    const { userId } = principal;
    const { id } = await world.thread(organizationId, userId, { prompt: first! });
    for (const content of [...later, undefined]) {
      const [reply] = await world.claim(60_000);
      await world.store.settleReply(reply!, { status: 'completed', ...done });
      if (content === undefined) break;
      const { prompt, ...rest } = newFollowUp();
      const followUp = { ...rest, prompt: { ...prompt!, content } };
      const added = await world.store.addReply(organizationId, id, followUp, by(userId));
      assert.deepEqual(added, { outcome: 'added' });
    }
    return id;
  }

  /** Reads that count the bytes of messages that are loaded in each turn of the event loop. */
  function counted(store: Store) {
    let turn = 0;
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const bytesByTurn = new Map<number, number>();
    const note = (messages: readonly Message[] = []) => {
      const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
      if (bytes > 0) bytesByTurn.set(turn, (bytesByTurn.get(turn) ?? 0) + bytes);
    };
    const watched: Store = {
      ...store,
      // The store reads before its promise settles, so in the turn of the call.
      getThread: (...asked) => {
        const at = turn;
        return store.getThread(...asked).then((found) => {
          assert.equal(turn, at);
          note(found?.messages);
          return found;
        });
      },
      listMessages: (...asked) =>
        store.listMessages(...asked).then((messages) => {
          note(messages);
          return messages;
        }),
    };
    const followedThreads = createFollowedThreads({
      store: watched,
      timers: machineTimers,
      watchReply: () => () => {},
      threadSignals: new Signals(),
    });
    const reads = createThreadReads({ store: watched, followedThreads });
    return { reads, bytesByTurn, end: () => clearImmediate(counting) };
  }

  async function read(reads: ThreadReads, id: ThreadId): Promise<readonly Message[]> {
    const found = await reads.get(principal, id);
    if (!('parts' in found)) return found.messages;
    const messages: Message[] = [];
    for await (const part of found.parts) messages.push(...part);
    return messages;
  }

  it('loads at most one part of a large thread in a turn of the event loop, however many are read', async () => {
    const ids: ThreadId[] = [];
    for (let count = 0; count < 4; count += 1) ids.push(await writeThread(Array(6).fill(largePrompt)));
    const { reads, bytesByTurn, end } = counted(world.store);
    const all = await Promise.all([...ids, ...ids].map((id) => read(reads, id)));
    end();
    for (const messages of all) assert.equal(messages.length, 12);
    const largest = Math.max(...bytesByTurn.values());
    assert.ok(largest < 131_072 + promptBytes + 1_000, `${largest} bytes in one turn`);
    assert.ok(bytesByTurn.size >= 4 * 3, `${bytesByTurn.size} turns`);
  });

  it('loads threads of medium size in turns of their own', async () => {
    const ids: ThreadId[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await writeThread([largePrompt]));
    const { reads, bytesByTurn, end } = counted(world.store);
    await Promise.all(ids.map((id) => read(reads, id)));
    end();
    assert.ok(Math.max(...bytesByTurn.values()) < promptBytes + 1_000);
    assert.equal(bytesByTurn.size, 6);
  });
});
