import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Api } from './api.ts';
import { Service } from './service.ts';

const rounds = 5;
const writers = 6;
const writesBeforeKill = 60;
/** Short, so that what a killed process held is taken up again soon. */
const environment = { SKEIN_MODEL: 'scripted', SKEIN_REPLY_LEASE_MS: '500' };

/** What a caller knows of a thread: `pending` holds what was asked for and not answered before the kill. */
interface Known {
  title: string;
  deleted: boolean;
  pending?: { title: string } | 'deletion';
}

/** A create that was never answered: it may have happened, once. */
interface Unanswered {
  readonly body: { prompt: string; title: string };
  readonly idempotencyKey: string;
}

describe('A service that is killed in the middle of writes', () => {
  let service: Service | undefined;
  after(() => service?.end('SIGKILL'));

  it(`has kept all that it acknowledged and nothing by halves, ${rounds} times over`, {
    timeout: 120_000,
  }, async (t) => {
    service = await Service.start({ environment });
    const { folder } = service;
    await service.skein('org', 'create', 'Acme', '--quota', '1000000');
    await service.skein('member', 'add', 'Acme', 'ada@acme.example');
    const { key } = await service.skein('key', 'create', 'Acme', '--user', 'ada@acme.example');
    const known = new Map<string, Known>();
    let cutOff = 0;
    for (let round = 0; round < rounds; round += 1) {
      const unanswered = await writeUntilKilled(service, key, known, round);
      cutOff += unanswered.length + [...known.values()].filter(({ pending }) => pending).length;
      service = await Service.start({ folder, environment });
      const api = new Api(service.baseUrl, key);
      await retryOnce(api, unanswered, known);
      await assertAllThere(api, known);
      await assertRepliesFinish(api, known);
      assert.equal((await service.skein('doctor')).healthy, true);
    }
    // Otherwise the kills came while nothing was written, and prove nothing.
    assert.ok(cutOff > 0, 'some write was under way at a kill');
    assert.ok([...known.values()].some(({ deleted }) => deleted));
    t.diagnostic(`${known.size} threads, ${cutOff} writes cut off by ${rounds} kills`);
    assert.equal(await service.end(), 0);
  });
});

/** Writes from several connections at once and kills the service when enough was acknowledged. */
async function writeUntilKilled(
  service: Service,
  key: string,
  known: Map<string, Known>,
  round: number,
): Promise<Unanswered[]> {
  const api = new Api(service.baseUrl, key);
  const unanswered: Unanswered[] = [];
  const enough = Promise.withResolvers<void>();
  let acknowledged = 0;
  const acknowledge = () => {
    acknowledged += 1;
    if (acknowledged === writesBeforeKill) enough.resolve();
  };
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; ; turn += 1) {
      const name = `${round}-${writer}-${turn}`;
      const body = { prompt: `Prompt ${name}\n#wait 200\n#say Done ${name}.`, title: `Title ${name}` };
      const made: Unanswered = { body, idempotencyKey: `key-${name}` };
      const answer = await api
        .create(body, { 'idempotency-key': made.idempotencyKey })
        .catch(() => unanswered.push(made));
      if (typeof answer === 'number') return;
      assert.equal(answer.status, 201);
      const thread: Known = { title: body.title, deleted: false };
      known.set(answer.body.thread.id, thread);
      acknowledge();
      if (!(await change(api, answer.body.thread.id, thread, turn, acknowledge))) return;
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await Promise.race([enough.promise, writing]);
  assert.equal(await service.end('SIGKILL'), 'SIGKILL');
  await writing;
  assert.ok(acknowledged >= writesBeforeKill);
  return unanswered;
}

/** Renames every second thread and deletes every third; whether the service was there to answer. */
async function change(
  api: Api,
  id: string,
  thread: Known,
  turn: number,
  acknowledge: () => void,
): Promise<boolean> {
  if (turn % 2 === 0) {
    const title = `${thread.title}, renamed`;
    thread.pending = { title };
    const answer = await api.rename(id, title).catch(() => undefined);
    if (answer === undefined) return false;
    assert.equal(answer.status, 200);
    thread.title = title;
    delete thread.pending;
    acknowledge();
  }
  if (turn % 3 === 0) {
    thread.pending = 'deletion';
    const answer = await api.delete(id).catch(() => undefined);
    if (answer === undefined) return false;
    assert.equal(answer.status, 200);
    thread.deleted = true;
    delete thread.pending;
    acknowledge();
  }
  return true;
}

/** A caller that got no answer asks again with its Idempotency-Key: one thread comes of it, whatever had happened. */
async function retryOnce(
  api: Api,
  unanswered: readonly Unanswered[],
  known: Map<string, Known>,
): Promise<void> {
  for (const { body, idempotencyKey } of unanswered) {
    const [first, second] = [
      await api.create(body, { 'idempotency-key': idempotencyKey }),
      await api.create(body, { 'idempotency-key': idempotencyKey }),
    ];
    assert.equal(first.status, 201);
    assert.deepEqual(second.body, first.body);
    assert.ok(!known.has(first.body.thread.id));
    known.set(first.body.thread.id, { title: body.title, deleted: false });
  }
}

/** The listing holds exactly what was acknowledged; what was cut off has happened whole or not at all. */
async function assertAllThere(api: Api, known: Map<string, Known>): Promise<void> {
  const listed = new Map((await api.walk({ limit: 100 })).map((thread) => [thread.id as string, thread]));
  for (const id of listed.keys()) assert.ok(known.has(id), `${id} was made by nobody, or twice`);
  await Promise.all(
    [...known].map(async ([id, thread]) => {
      const { status, body } = await api.get(id);
      settle(thread, status, body.thread?.title);
      assert.equal(status, thread.deleted ? 404 : 200, id);
      assert.equal(listed.has(id), !thread.deleted, `${id} in the listing`);
      if (thread.deleted) return;
      assert.equal(body.thread.title, thread.title);
      assert.deepEqual(body.thread, listed.get(id));
      assert.deepEqual(
        body.messages.map(({ role }: { role: string }) => role),
        ['user', 'assistant'],
      );
    }),
  );
}

/** A change that was asked for and not answered: from what is found, the caller learns which way it went. */
function settle(thread: Known, status: number, title: string | undefined): void {
  if (thread.pending === 'deletion') thread.deleted = status === 404;
  else if (thread.pending !== undefined && title === thread.pending.title) thread.title = title;
  delete thread.pending;
}

async function assertRepliesFinish(api: Api, known: Map<string, Known>): Promise<void> {
  const living = [...known].filter(([, { deleted }]) => !deleted);
  assert.ok(living.length > 0);
  await Promise.all(
    living.map(async ([id, { title }]) => {
      const { status, messages } = await api.untilDone(id, 20_000);
      assert.equal(status.state, 'idle');
      const name = title.replace('Title ', '').replace(', renamed', '');
      assert.equal(messages[1].content, `Done ${name}.`, 'the reply, whole and once');
      assert.equal(messages[1].status, 'completed');
    }),
  );
}
