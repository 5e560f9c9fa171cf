import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type SettingsWorld, startSettingsWorld } from '../../../harness/console/settings-world.ts';
import { ask, at, untilEnded } from '../../../harness/console/thread-calls.ts';
import { ThreadStream } from '../../../harness/console/thread-stream.ts';
import { assertDone } from '../../../harness/console/visitor.ts';
import { scrape } from '../../../harness/http/scrape.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { exchange, makeApplication } from '../../../harness/world/applications.ts';
import { makePersonalKey } from '../../../harness/world/tenants.ts';

const pauseMs = 100;
const streams = 10;
/** One and a quarter for each stream. A stream that kept a thread in memory would take 3 MB. */
const growthMbMax = 12.5;
/** 300 KB in UTF-8. It contains no words, whose index would take more time than the streams. */
const longText = '€'.repeat(99_000);

/** Creates a thread that belongs to Ada, with 600 KB for each prompt. */
async function createLongThread({ ada }: SettingsWorld, prompts = 5): Promise<string> {
  const prompt = `#say ${longText}`;
  const { thread } = await ask(ada, prompt);
  for (let count = 1; count < prompts; count += 1) {
    // The list does not contain the long texts.
    await eventually(
      async () => assertDone(await ada.get('/threads')).threads,
      (threads) => threads.find(({ id }: { id: string }) => id === thread.id).state !== 'in_progress',
    );
    assertDone(await ada.post(at(thread.id, '/messages'), { prompt }), 201);
  }
  const { messages } = await untilEnded(ada, thread.id);
  assert.equal(messages.at(-1).content.length, longText.length);
  return thread.id;
}

/** A service with a thread of 3 MB that Ada has published and Ben reads. */
class StreamedThread {
  readonly world: SettingsWorld;
  readonly id: string;
  readonly reader: ThreadStream;
  readonly #sockets: Socket[] = [];

  private constructor(world: SettingsWorld, id: string, reader: ThreadStream) {
    this.world = world;
    this.id = id;
    this.reader = reader;
  }

  static async start(environment: Record<string, string>): Promise<StreamedThread> {
    const world = await startSettingsWorld({ SKEIN_METRICS_PORT: '0', ...environment });
    const { ada, ben } = world;
    const id = await createLongThread(world);
    assertDone(await ada.call('PUT', at(id, '/published'), { body: { published: true } }));
    const path = ben.client.at(at(id, '/events'), world.acme);
    return new StreamedThread(world, id, await ThreadStream.open(ben.client, path));
  }

  /** Opens a stream as Ada and never reads from it. */
  openUnread(id = this.id): Socket {
    const { client } = this.world.ada;
    const { hostname, port } = new URL(client.baseUrl);
    const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const path = client.at(at(id, '/events'), this.world.acme);
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => {});
    socket.write(
      `GET /console${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\nCookie: ${cookie}\r\n\r\n`,
    );
    this.#sockets.push(socket);
    return socket;
  }

  /** Renames the thread again and again until `enough`. Ben sees every title. */
  async change(enough: (times: number) => boolean): Promise<void> {
    for (let times = 0; !enough(times); times += 1) {
      const title = `Title ${Math.random()}`;
      assertDone(await this.world.ada.patch(at(this.id), { title }));
      await this.reader.until(({ view }) => view?.thread.title === title);
      this.reader.events.length = 0;
      // Each title sends 3 MB to Ben. He must not fall behind on a busy machine.
      await pause(pauseMs);
    }
  }

  /** The memory in use after a garbage collection. Needs `garbageOnRequest`. */
  async memoryBytes(): Promise<number> {
    const collections = this.logged(collected);
    this.world.service.signal('SIGUSR2');
    await eventually(
      () => this.logged(collected),
      (count) => count > collections,
    );
    const line = this.world.service.output.findLast((line) => line.includes(collected))!;
    return Number(line.split(': ').at(-1));
  }

  closeUnread(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async openFiles(): Promise<number> {
    return (await scrape(this.world.service)).value('process_open_fds');
  }

  /** Counts the log lines that contain the text. */
  logged(text: string): number {
    return this.world.service.output.filter((line) => line.includes(text)).length;
  }

  async end(): Promise<unknown> {
    const exitCode = await this.world.end();
    this.closeUnread();
    return exitCode;
  }
}

const opened = '/threads/:id/events';
const collected = 'garbage collected';

/**
 * The environment of a process that collects garbage on SIGUSR2 and then says how much memory is in use. The resident memory
 * would not do: it contains up to 60 MB that were in use before.
 */
function garbageOnRequest(): Record<string, string> {
  const script = `import { setFlagsFromString } from 'node:v8';
    import { runInNewContext } from 'node:vm';
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    process.on('SIGUSR2', () => {
      collect();
      collect();
      const { heapUsed, external } = process.memoryUsage();
      console.error('${collected}: ' + (heapUsed + external));
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
const closed = 'closed stream: client is not reading';

describe('Ten streams without a reader', () => {
  let thread: StreamedThread;
  const ids: string[] = [];
  before(async () => {
    thread = await StreamedThread.start({
      SKEIN_STREAM_WRITE_TIMEOUT_MS: '600000',
      ...garbageOnRequest(),
    });
    for (let count = 0; count < streams; count += 1) ids.push(await createLongThread(thread.world));
  });
  after(() => thread?.end());

  /**
   * Each title sends a whole thread again: 15 MB a stream, more than the kernel takes. Titles that follow each other too
   * fast are sent as one, so Ben sees one of his in between.
   */
  async function renameUnread(): Promise<void> {
    for (let count = 1; count <= 4; count += 1) {
      for (const id of ids) assertDone(await thread.world.ada.patch(at(id), { title: `Title ${count}` }));
      await thread.change((times) => times === 1);
    }
  }

  /** Opens a stream that is never read, and waits until the service has answered. */
  async function openUnread(id: string): Promise<void> {
    const before = thread.logged(opened);
    thread.openUnread(id);
    await eventually(
      () => thread.logged(opened),
      (streams) => streams === before + 1,
    );
  }

  /** Returns how many MB of memory the streams take that `openAll` opens. Ben sees every title with and without them. */
  async function growth(openAll: () => Promise<void>): Promise<number> {
    await thread.change((times) => times === 5);
    const before = await thread.memoryBytes();
    await openAll();
    await thread.change((times) => times === 5);
    const grown = ((await thread.memoryBytes()) - before) / 2 ** 20;
    console.log(`${grown.toFixed(1)} MB more than ${(before / 2 ** 20).toFixed(1)} MB`);
    assert.equal(thread.logged(closed), 0, 'all streams are still open');
    return grown;
  }

  it(`take at most ${growthMbMax} MB when each follows a different thread`, async () => {
    const grown = await growth(async () => {
      for (const id of ids) await openUnread(id);
      await renameUnread();
    });
    assert.ok(grown <= growthMbMax, `${grown} MB more`);
    thread.closeUnread();
  });

  it(`take at most ${growthMbMax} MB when all follow one thread, and do not prevent its stop`, async () => {
    const grown = await growth(async () => {
      for (let count = 0; count < streams; count += 1) {
        await openUnread(thread.id);
        await thread.change((times) => times === 1);
      }
    });
    assert.ok(grown <= growthMbMax, `${grown} MB more`);
    assert.equal(await thread.end(), 0);
    await thread.reader.ended();
    for (const { role, content } of thread.reader.view.messages) {
      assert.equal(content === (role === 'user' ? `#say ${longText}` : longText), true, 'every byte arrived');
    }
  });
});

describe('A stream without a reader', () => {
  const slots = 5;
  let thread: StreamedThread;
  before(async () => {
    thread = await StreamedThread.start({
      // Long enough for this test's own reader, which may be busy for a while.
      SKEIN_STREAM_WRITE_TIMEOUT_MS: '5000',
      SKEIN_STREAMS_PER_PERSON_MAX: String(slots),
    });
  });
  after(async () => assert.equal(await thread?.end(), 0));

  it('is closed after the write timeout, and no longer counts against the limit', async () => {
    const sockets = Array.from({ length: slots }, () => thread.openUnread());
    await thread.change(() => thread.logged(closed) === slots);
    await Promise.all(sockets.map(readToTheEnd));
    const path = thread.world.ada.client.at(at(thread.id, '/events'), thread.world.acme);
    const streams = await Promise.all(sockets.map(() => ThreadStream.open(thread.world.ada.client, path)));
    await thread.change((times) => times === 2);
    const { title } = thread.reader.view.thread;
    for (const stream of streams) await stream.until(({ view }) => view?.thread.title === title);
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it('does not affect reads of the thread, and unread responses hold little memory', async () => {
    const { service, acme, email, ada } = thread.world;
    const { key, api } = await makePersonalKey(service, acme, email('ada'));
    const { status, body, headers } = await api.get(thread.id);
    assert.equal(status, 200);
    const contents = (messages: any[]) => messages.map(({ content }) => content);
    const texts = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? `#say ${longText}` : longText));
    assert.deepEqual(contents(body.messages), texts);
    assert.deepEqual(contents(assertDone(await ada.get(at(thread.id))).messages), texts);
    const { state, activeMessageId, stepCount } = body.status;
    assert.deepEqual([state, activeMessageId, stepCount], ['idle', null, 0]);
    const etag = headers.get('etag')!;
    assert.equal((await api.get(thread.id, { 'if-none-match': etag })).status, 304);
    assert.equal((await api.call('HEAD', `/threads/${thread.id}`)).headers.get('etag'), etag);
    const { api: bens } = await makePersonalKey(service, acme, email('ben'));
    const { body: own } = await bens.create({ prompt: longText });
    assert.equal((await api.get(own.thread.id)).status, 404, "a colleague's large thread is not found");

    const before = (await scrape(service)).value('process_resident_memory_bytes');
    const get = `GET /api/v1/threads/${thread.id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const { hostname, port } = new URL(service.baseUrl);
    const sockets = Array.from({ length: 100 }, () => connect(Number(port), hostname).pause());
    for (const socket of sockets) {
      socket.on('error', () => {});
      // More than the kernel takes.
      socket.write(get.repeat(10));
    }
    await eventually(
      () => api.get(thread.id),
      () => sockets.every(({ bytesWritten }) => bytesWritten > 0),
    );
    await thread.change((times) => times === 5);
    const grown = (await scrape(service)).value('process_resident_memory_bytes') - before;
    for (const socket of sockets) socket.destroy();
    // 300 MB if each response was in memory.
    assert.ok(grown < 150 * 2 ** 20, `${grown} bytes more`);
  });

  it('leaks no connection when its peer resets, half-closes or closes, or the thread is deleted', async () => {
    // Includes connections of this test's own client, whose number varies: hence the margin of 20 below.
    const before = await thread.openFiles();
    for (let count = 0; count < 200; count += 1) {
      const leave = waysToLeave[count % waysToLeave.length]!;
      const socket = thread.openUnread();
      if (count % 2 === 0) socket.once('connect', () => leave(socket));
      else socket.once('data', () => leave(socket)).resume();
    }
    await thread.change((times) => times === 3);
    await eventually(
      () => thread.openFiles(),
      (files) => files < before + 20,
    );
    const left = Array.from({ length: slots }, () => thread.openUnread());
    await thread.change((times) => times === 3);
    assertDone(await thread.world.ada.delete(at(thread.id)));
    await thread.reader.ended();
    assert.equal(thread.reader.events.at(-1)?.event, 'gone');
    await Promise.all(left.map(readToTheEnd));
    await eventually(
      () => thread.openFiles(),
      (files) => files < before + 20,
    );
  });
});

describe('A large response that is not read', () => {
  let world: SettingsWorld;
  let id: string;
  before(async () => {
    world = await startSettingsWorld();
    // More than the kernel takes.
    id = await createLongThread(world, 16);
    assertDone(await world.ada.call('PUT', at(id, '/published'), { body: { published: true } }));
  });
  after(async () => assert.equal(await world?.end(), 0));

  /** Requests the path, calls `endAccess` once the response has begun, and reads the rest. */
  async function assertCutOff(path: string, credential: string, endAccess: () => Promise<unknown>) {
    const { hostname, port } = new URL(world.service.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n${credential}\r\n\r\n`);
    await once(socket, 'readable');
    await endAccess();
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await readToTheEnd(socket);
    const received = Buffer.concat(chunks).toString('latin1');
    assert.match(received, /^HTTP\/1\.1 200 /);
    assert.ok(!received.endsWith('0\r\n\r\n'), `the response is cut off: ${received.length} bytes`);
  }

  it('ends when its key or its access token is revoked', async () => {
    const { service, acme } = world;
    const path = `/api/v1/threads/${id}`;
    const { key, id: keyId } = await makePersonalKey(service, acme, world.email('ada'));
    const revoke = () => service.skein('key', 'revoke', acme, keyId);
    await assertCutOff(path, `Authorization: Bearer ${key}`, revoke);
    const application = await makeApplication(service, acme);
    const token = await exchange(service.baseUrl, application);
    const remove = () => service.skein('app', 'delete', acme, application.clientId);
    await assertCutOff(path, `Authorization: Bearer ${token}`, remove);
  });

  it('ends when its reader is removed', async () => {
    const { service, acme, ben, email } = world;
    const cookie = [...ben.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const remove = () => service.skein('member', 'remove', acme, email('ben'));
    await assertCutOff(`/console${ben.client.at(at(id), acme)}`, `Cookie: ${cookie}`, remove);
  });
});

const waysToLeave: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) => socket.destroy(),
];

/** A paused socket closes only after its unread data has been read, so this discards the data. */
function readToTheEnd(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', resolve).resume());
}
