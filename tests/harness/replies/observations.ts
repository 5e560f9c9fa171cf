import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../http/api.ts';
import { sendMany } from '../http/load.ts';
import { waitMsMax } from '../service/eventually.ts';
import { createThread } from '../world/world.ts';

/** Concurrent polls: enough to check hundreds of replies several times a second. */
const looksAtOnce = 16;
/** Hundreds of replies, their service and the observer share two cores. */
const betweenLooksMs = 60;

/** A requested reply, and the text that it must have when it is completed, if that is known. */
export interface Asked {
  readonly threadId: string;
  readonly whole?: string;
}

/** Creates a thread whose reply is a script of `pieces`, with a pause after each one except the last. */
export async function askForPieces(
  api: Api,
  pieces: readonly string[],
  pauseMs: number,
  headers: readonly string[] = [],
): Promise<Asked> {
  const script = pieces.map((piece) => `#say ${piece}`).join(`\n#wait ${pauseMs}\n`);
  const { thread } = await createThread(api, { prompt: [...headers, script].join('\n') });
  return { threadId: thread.id, whole: pieces.join('') };
}

/** What a poller sees of replies. Each observation is checked against the rules for one read and against earlier ones. */
export class Observations {
  readonly #ended = new Map<string, object>();

  get ended(): ReadonlySet<string> {
    return new Set(this.#ended.keys());
  }

  /**
   * `whole` is the text of the completed reply; while it runs, it shows a beginning of it. `before` is the end that was
   * observed before this read started: of two concurrent reads, the later response can show the earlier state.
   */
  see(
    body: any,
    whole?: string,
    before: object | null = this.#ended.get(body.messages[1].threadId) ?? null,
  ): void {
    const [, reply] = body.messages;
    assertConsistent(body);
    if (before !== null) assert.deepEqual(reply, before, 'what has ended changes no more');
    if (reply.completedAt !== null) {
      const known = this.#ended.get(reply.threadId) ?? reply;
      assert.deepEqual(reply, known, 'it ends in one way');
      this.#ended.set(reply.threadId, known);
    }
    if (whole === undefined) return;
    if (reply.status === 'completed') assert.equal(reply.content, whole, 'the text, whole and once');
    else if (reply.status !== 'failed') assert.ok(whole.startsWith(reply.content), reply.content);
  }

  /** Reads each reply once. */
  async lookAt(api: Api, asked: readonly Asked[]): Promise<void> {
    await sendMany(asked.length, looksAtOnce, async (place) => {
      const { threadId, whole } = asked[place]!;
      const before = this.#ended.get(threadId) ?? null;
      const { status, body } = await api.get(threadId);
      assert.equal(status, 200, `${threadId}: ${JSON.stringify(body)}`);
      this.see(body, whole, before);
    });
  }

  /** Reads the replies that have not ended yet, repeatedly, until the condition holds. */
  async lookUntil(
    isEnough: () => boolean,
    api: Api,
    asked: readonly Asked[],
    withinMs = waitMsMax,
  ): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!isEnough()) {
      const open = asked.filter(({ threadId }) => !this.#ended.has(threadId));
      assert.ok(Date.now() < deadline, `${open.length} of ${asked.length} replies have not ended`);
      await this.lookAt(api, open);
      await pause(betweenLooksMs);
    }
  }

  /** Reads the ended replies once more at the end. */
  async untilAllEnded(api: Api, asked: readonly Asked[]): Promise<void> {
    await this.lookUntil(() => asked.every(({ threadId }) => this.#ended.has(threadId)), api, asked);
    await this.lookAt(api, asked);
  }

  /** The distinct statuses of the ended replies. */
  statuses(): string[] {
    return [...new Set([...this.#ended.values()].map((reply) => (reply as { status: string }).status))];
  }
}

/** The rules for one read (§2.3, §3.3). */
function assertConsistent({ messages, status }: any): void {
  const [, reply] = messages;
  const runs = reply.status === 'in_progress' || reply.status === 'corroborating';
  assert.equal(reply.completedAt === null, runs, `${reply.status} with completedAt ${reply.completedAt}`);
  if (runs) {
    assert.deepEqual(status, {
      state: 'in_progress',
      activeMessageId: reply.id,
      latestUpdate: reply.steps.at(-1)?.description ?? 'Thinking',
      stepCount: reply.steps.length,
    });
    assert.equal(reply.sources, null, 'sources come with the end');
    return;
  }
  const state = reply.status === 'failed' ? 'error' : 'idle';
  assert.deepEqual(status, { state, activeMessageId: null, latestUpdate: null, stepCount: 0 });
  assert.ok(reply.createdAt <= reply.completedAt, `${reply.createdAt} to ${reply.completedAt}`);
}
