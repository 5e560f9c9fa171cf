import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { ConsoleClient, signedInMember, testPassword } from '../../harness/console/console-client.ts';
import {
  type SettingsWorld,
  sharedSettingsWorld,
  startSettingsWorld,
} from '../../harness/console/settings-world.ts';
import { ask, at, untilEnded } from '../../harness/console/thread-calls.ts';
import { clientAt, ThreadStream } from '../../harness/console/thread-stream.ts';
import { assertDone, Visitor } from '../../harness/console/visitor.ts';
import { Nodes } from '../../harness/nodes/nodes.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { makeOrganization } from '../../harness/world/tenants.ts';

/** The environment of a process that checks sessions a hundred times as often. */
const quickBeats = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    'const begin = setInterval; globalThis.setInterval = (f, ms, ...rest) => begin(f, ms === 15000 ? 150 : ms, ...rest);',
  )}`,
};

/** The environment of a process that logs when it cuts off requests that still run at its stop. */
const watchedCuts = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    "import { Server } from 'node:http'; const cut = Server.prototype.closeAllConnections; Server.prototype.closeAllConnections = function () { console.log('cut off'); cut.call(this); }; console.log('cuts are told');",
  )}`,
};

const slowReply = ['One', 'Two', 'Three'].map((word) => `#step ${word}\n#say ${word} \n#wait 400`).join('\n');

describe('A thread whose reader has left the organization', () => {
  let world: SettingsWorld;
  before(async () => {
    world = await sharedSettingsWorld();
  });

  it('is hidden from them, and open streams end', async () => {
    const { acme, ada, ben } = world;
    const { thread } = await ask(ada, 'x');
    await untilEnded(ada, thread.id);
    assertDone(await ada.call('PUT', at(thread.id, '/published'), { body: { published: true } }));
    const stream = await ThreadStream.open(ben.client, ben.client.at(at(thread.id, '/events'), acme));
    await stream.until(({ view }) => view !== undefined);
    assertDone(await ada.delete(`/members/${ben.userId}`));
    assertDone(await ada.patch(at(thread.id), { title: 'Between us' }));
    await stream.ended();
    assert.deepEqual(
      stream.events.map(({ event }) => event),
      ['view', 'gone'],
    );
  });
});

describe('A thread that is followed', () => {
  let world: SettingsWorld;
  let ada: Visitor;
  let ben: Visitor;
  before(async () => {
    world = await startSettingsWorld(quickBeats);
    ({ ada, ben } = world);
  });
  after(async () => assert.equal(await world?.end(), 0));

  const open = ({ client }: Visitor, threadId: string, organizationId = world.acme) =>
    ThreadStream.open(client, client.at(at(threadId, '/events'), organizationId));
  const publish = (visitor: Visitor, id: string, published: boolean) =>
    visitor.call('PUT', at(id, '/published'), { body: { published } });

  it('is sent whole first, then step by step until the reply has ended', async () => {
    const { thread } = await ask(ada, `${slowReply}\n#corroborate\n#source Handbook\n#wait 400`);
    const stream = await open(ada, thread.id);
    assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(stream.headers.get('cache-control'), 'no-store');
    assert.equal(stream.headers.get('x-accel-buffering'), 'no');
    assert.equal(stream.headers.get('content-encoding'), null);
    assert.ok(stream.headers.get('x-request-id'));
    await stream.until(({ view }) => view?.state === 'idle');
    await stream.close();
    assert.equal(stream.retryMs, 1000);
    assert.equal(stream.events[0]?.event, 'view');
    const progress = stream.events.filter(({ event }) => event === 'progress');
    assert.ok(progress.length >= 3, `${progress.length} times`);
    assert.ok(progress.some(({ data }) => data.status === 'corroborating'));
    assert.ok(progress.every(({ data }) => data.text.length < 'One Two Three '.length));
    assert.deepEqual(stream.events.at(-1)?.event, 'view');
    const { now, ...view } = stream.view;
    assert.ok(Math.abs(Date.parse(now) - Date.now()) < 60_000);
    assert.deepEqual(view, assertDone(await ada.get(at(thread.id))));
    assert.equal(stream.reply.content, 'One Two Three ');
    assert.equal(stream.reply.sources[0].title, 'Handbook');
  });

  it('is the same in two windows, whichever one makes a change', async () => {
    const { thread } = await ask(ada, '#say Half\n#hang');
    const windows = [await open(ada, thread.id), await open(ada, thread.id)];
    const both = (condition: (stream: ThreadStream) => boolean) =>
      Promise.all(windows.map((window) => window.until(condition)));
    await both(({ reply }) => reply?.content === 'Half');
    assertDone(await ada.post(at(thread.id, '/stop')));
    await both(({ view }) => view.state === 'idle' && view.messages[1].status === 'cancelled');
    assertDone(await ada.post(at(thread.id, '/messages'), { prompt: 'And then?' }), 201);
    await both(({ view }) => view.messages.length === 4 && view.state === 'idle');
    assertDone(await ada.patch(at(thread.id), { title: 'Renamed' }));
    await both(({ view }) => view.thread.title === 'Renamed');
    await world.service.skein('thread', 'publish', world.acme, thread.id);
    await both(({ view }) => view.thread.published);
    assertDone(await ada.delete(at(thread.id)));
    for (const window of windows) {
      await window.ended();
      assert.deepEqual(window.events.at(-1), { event: 'gone', data: {} });
    }
  });

  it('shows a failure with its reason, and the retry', async () => {
    const { thread } = await ask(ada, '#wait 300\n#fail');
    const stream = await open(ada, thread.id);
    await stream.until(({ view }) => view?.state === 'error');
    assert.equal(stream.reply.failure, 'The script says so.');
    assert.ok(stream.reply.traceId);
    assertDone(await ada.post(at(thread.id, '/retry')));
    await stream.until(({ view }) => view.messages.length === 3 && view.state === 'error');
    await stream.close();
  });

  it('hides creator-only details from others, and ends when the thread is unpublished', async () => {
    const { thread } = await ask(ada, '#wait 300\n#fail');
    assertDone(await publish(ada, thread.id, true));
    const stream = await open(ben, thread.id);
    await stream.until(({ view }) => view?.state === 'error');
    assert.deepEqual([stream.reply.failure, stream.reply.traceId], [null, null]);
    assert.deepEqual([stream.view.thread.mine, stream.view.thread.createdBy], [false, world.email('ada')]);
    assertDone(await publish(ada, thread.id, false));
    await stream.ended();
    assert.equal(stream.events.at(-1)?.event, 'gone');
  });

  it('is followed until the session or the membership ends', async () => {
    const cleo = new Visitor(
      await signedInMember(world.service, world.acme, world.email('cleo')),
      world.acme,
    );
    const { thread } = await ask(cleo, 'x');
    const second = new ConsoleClient(world.service.baseUrl);
    assertDone(await second.signIn(world.email('cleo'), testPassword));
    const streams = [await open(cleo, thread.id), await open(new Visitor(second, world.acme), thread.id)];
    await Promise.all(streams.map((stream) => stream.until(({ view }) => view !== undefined)));
    assertDone(await second.post('/sign-out'));
    await streams[1]!.ended();
    assert.equal(streams[1]!.events.at(-1)?.event, 'gone');
    // A heartbeat shows that the stream is alive.
    await streams[0]!.until(({ beats }) => beats >= 1);
    await world.service.skein('member', 'remove', world.acme, world.email('cleo'));
    await streams[0]!.ended();
    assert.equal(streams[0]!.events.at(-1)?.event, 'gone');
  });

  it('closes the oldest stream when a person opens too many', async () => {
    const { thread } = await ask(ada, 'x');
    const client = new ConsoleClient(world.service.baseUrl);
    assertDone(await client.signIn(world.email('ada'), testPassword));
    const elsewhere = new Visitor(client, world.acme);
    const streams: ThreadStream[] = [];
    for (let count = 0; count < 21; count += 1) {
      streams.push(await open(count % 2 === 0 ? ada : elsewhere, thread.id));
    }
    await streams[0]!.ended();
    assert.notEqual(streams[0]!.events.at(-1)?.event, 'gone', 'the browser may come again');
    assertDone(await ada.patch(at(thread.id), { title: 'Seen' }));
    for (const stream of streams.slice(1)) await stream.until(({ view }) => view.thread.title === 'Seen');
    await Promise.all(streams.map((stream) => stream.close()));
  });

  it('is logged in one line', async () => {
    const { thread } = await ask(ada, 'x');
    const stream = await open(ada, thread.id);
    await stream.until(({ view }) => view !== undefined);
    await stream.close();
    const traceId = stream.headers.get('x-request-id') ?? '';
    await eventually(
      () => world.service.output.filter((line) => line.includes(traceId)).length,
      (count) => count > 0,
    );
    await untilEnded(ada, thread.id);
    const lines = world.service.output
      .filter((line) => line.includes(traceId))
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ msg, route, status, level }) => [msg, route, status, level]),
      [['request', '/console/organizations/:organizationId/threads/:id/events', 200, 30]],
    );
  });
});

describe('A window on a thread', () => {
  it('loses nothing when the service is killed and starts again', async () => {
    const world = await startSettingsWorld();
    const { thread } = await ask(world.ada, slowReply);
    const path = world.ada.client.at(at(thread.id, '/events'), world.acme);
    const stream = await ThreadStream.open(world.ada.client, path);
    await stream.until(({ reply }) => reply?.content.startsWith('One'));
    await world.service.end('SIGKILL');
    await stream.ended();
    const { folder } = world.service;
    const service = await Service.start({ folder, environment: { SKEIN_MODEL: 'scripted' } });
    const again = await ThreadStream.open(clientAt(service.baseUrl, world.ada.client), path);
    await again.until(({ view }) => view?.state === 'idle');
    assert.equal(again.reply.content, 'One Two Three ');
    assert.equal(again.view.messages.length, 2);
    await again.close();
    assert.equal(await service.end(), 0);
  });

  it('ends immediately when the service stops, even if its reader is stuck', async () => {
    const world = await startSettingsWorld({ ...watchedCuts, SKEIN_PROMPT_LENGTH_MAX: '500000' });
    const { ada, service, acme } = world;
    const length = 400_000;
    const { thread } = await ask(ada, `#say ${'x'.repeat(length)}\n#hang`);
    const path = ada.client.at(at(thread.id, '/events'), acme);
    const reader = await ThreadStream.open(ada.client, path);
    await reader.until(({ reply }) => reply?.content.length === length);
    const unread = openWithoutReading(ada.client, path);
    const streamsOpened = () => service.output.filter((line) => line.includes('/threads/:id/events')).length;
    await eventually(streamsOpened, (count) => count === 2);
    // Views of 800 kB each: more than the buffers of an unread connection hold.
    for (let count = 0; count < 12; count += 1) {
      assertDone(await ada.patch(at(thread.id), { title: `Renamed ${count}` }));
      await reader.until(({ view }) => view.thread.title === `Renamed ${count}`);
    }
    assert.equal(await service.end(), 0);
    await reader.ended();
    unread.destroy();
    assert.notEqual(reader.events.at(-1)?.event, 'gone', 'the browser comes again');
    assert.ok(service.output.includes('cuts are told'));
    assert.ok(!service.output.includes('cut off'), 'no connection had to be cut off');
  });
});

/** A client that opens the stream and never reads. */
function openWithoutReading({ baseUrl, cookies }: ConsoleClient, path: string): Socket {
  const { hostname, port } = new URL(baseUrl);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => {});
  socket.write(`GET /console${path} HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${cookie}\r\n\r\n`);
  return socket;
}

describe('A thread that one node streams and another node changes', () => {
  let nodes: Nodes;
  let shows: Service;
  let writes: Service;
  let ada: Visitor;
  before(async () => {
    nodes = await Nodes.prepare();
    [shows, writes] = await Promise.all([nodes.start('api'), nodes.start('all')]);
    const email = 'cleo@acme.example';
    ada = new Visitor(await signedInMember(shows, nodes.organization, email), nodes.organization);
  });
  after(() => nodes?.end());

  it('receives progress and the end of a reply written by another node', async () => {
    const { thread } = await ask(ada, slowReply);
    const path = ada.client.at(at(thread.id, '/events'), nodes.organization);
    const stream = await ThreadStream.open(ada.client, path);
    await stream.until(({ view }) => view?.state === 'idle');
    assert.equal(stream.reply.content, 'One Two Three ');
    assert.ok(stream.events.some(({ event, data }) => event === 'progress' && data.text !== ''));
    const elsewhere = new Visitor(clientAt(writes.baseUrl, ada.client), nodes.organization);
    assertDone(await elsewhere.patch(at(thread.id), { title: 'From elsewhere' }));
    await stream.until(({ view }) => view.thread.title === 'From elsewhere');
    assertDone(await elsewhere.post(at(thread.id, '/messages'), { prompt: '#say More\n#hang' }), 201);
    await stream.until(({ reply, view }) => view.messages.length === 4 && reply.content === 'More');
    assertDone(await elsewhere.post(at(thread.id, '/stop')));
    await stream.until(({ view }) => view.state === 'idle');
    assert.equal(stream.reply.status, 'cancelled');
    await writes.end('SIGKILL');
    assertDone(await ada.delete(at(thread.id)));
    await stream.ended();
    assert.equal(stream.events.at(-1)?.event, 'gone');
  });
});

const stores = {
  'two nodes on PostgreSQL': async () => {
    const nodes = await Nodes.prepare();
    const services = await Promise.all([nodes.start('api'), nodes.start('api')]);
    return { services, organization: nodes.organization, end: () => nodes.end() };
  },
  'two processes on one SQLite file': async () => {
    const first = await sharedService();
    const second = await Service.start({ folder: first.folder, environment: { SKEIN_MODEL: 'scripted' } });
    const organization = await makeOrganization(first, 'Acme');
    return { services: [first, second], organization, end: async () => void (await second.end()) };
  },
};
for (const [name, start] of Object.entries(stores)) {
  describe(`A session that is ended by another process, with ${name},`, () => {
    let world: Awaited<ReturnType<typeof start>>;
    before(async () => {
      world = await start();
    });
    after(() => world?.end());

    const endings: Record<string, (own: ConsoleClient, email: string) => Promise<unknown>> = {
      'a sign-out': async (own) => assertDone(await own.post('/sign-out')),
      'a sign-out everywhere': async (own) => assertDone(await own.post('/sign-out-everywhere')),
      'a change of the password': async (_, email) => {
        const other = new ConsoleClient(world.services[1]!.baseUrl);
        assertDone(await other.signIn(email, testPassword));
        const passwords = { current: testPassword, next: 'another quite long password' };
        assertDone(await other.post('/password', passwords));
      },
      'the removal of the member': (_, email) =>
        world.services[0]!.skein('member', 'remove', world.organization, email),
    };
    for (const [ending, endAt] of Object.entries(endings)) {
      it(`ends with the next request and closes its streams after ${ending}`, async () => {
        const { services, organization } = world;
        const name = ending.replaceAll(' ', '-');
        const kept = await signedInMember(services[0]!, organization, `kept-by-${name}@acme.example`);
        const email = `${name}@acme.example`;
        const ended = await signedInMember(services[0]!, organization, email);
        const open = async (client: ConsoleClient) => {
          const { thread } = await ask(new Visitor(client, organization), '#hang');
          return ThreadStream.open(client, client.at(at(thread.id, '/events'), organization));
        };
        const [other, stream] = [await open(kept), await open(ended)];
        await endAt(clientAt(services[1]!.baseUrl, ended), email);
        assert.ok([401, 404].includes((await ended.get(ended.at('/usage', organization))).status));
        await stream.ended();
        assert.equal(stream.events.at(-1)?.event, 'gone');
        assert.equal(other.beats, 0, 'it did not wait for a beat');
        await other.close();
      });
    }
  });
}
