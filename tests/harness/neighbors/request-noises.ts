import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ConsoleClient, testPassword } from '../console/console-client.ts';
import { sendMany } from '../http/load.ts';
import type { Neighborhood } from './neighborhood.ts';
import { ask, type Noise, sessionRequest, untilEnded, usualGrownMbMax } from './noise.ts';

/** Questions about the noisy tenant's documents. */
const questions = [
  'How long does a session of the console last?',
  'What happens to a reply when its process dies, and how often is it tried?',
  'How do I back up the embedded store while the service runs?',
  'Which passwords are accepted, and how are they hashed?',
];
const cutOff = 'cut off';

/** Opens a connection, sends the bytes, and reads nothing after the status of the first response. */
function openWithoutReading({ baseUrl }: { baseUrl: string }, bytes: string) {
  const { hostname, port } = new URL(baseUrl);
  const socket: Socket = connect({ host: hostname, port: Number(port) });
  const outcome = new Promise<string>((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause();
      resolve(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1] ?? 'not HTTP');
    });
    socket.on('error', () => resolve(cutOff)).on('close', () => resolve(cutOff));
  });
  socket.write(bytes);
  return { socket, outcome };
}

async function openMany(
  { service }: Neighborhood,
  count: number,
  bytes: string,
  meanwhile: () => Promise<unknown>,
): Promise<string[]> {
  const opened = Array.from({ length: count }, () => openWithoutReading(service, bytes));
  const outcomes = await Promise.all(opened.map(({ outcome }) => outcome));
  await meanwhile();
  for (const { socket } of opened) socket.destroy();
  return outcomes;
}

const largeThreads = new WeakMap<Neighborhood, Promise<string>>();

/** A thread of the noisy tenant with 3 MB of prompts. */
function largeThread(world: Neighborhood): Promise<string> {
  const known = largeThreads.get(world) ?? createLargeThread(world);
  largeThreads.set(world, known);
  return known;
}

async function createLargeThread({ noisy: { api, admin, organizationId } }: Neighborhood): Promise<string> {
  const prompt = '長'.repeat(100_000);
  const { id } = (await api.create({ prompt })).body.thread;
  for (let count = 1; count < 10; count += 1) {
    assert.equal((await untilEnded(api, id)).status, 200);
    const { status } = await admin.post(admin.at(`/threads/${id}/messages`, organizationId), { prompt });
    assert.equal(status, 201);
  }
  assert.equal((await untilEnded(api, id)).status, 200);
  return id;
}

const formatStatus = ({ status }: { status: number }) => String(status);

export const requestNoises: readonly Noise[] = [
  {
    name: '64 replies being written by the embedded model',
    outcomes: ['completed'],
    grownMbMax: usualGrownMbMax,
    isAboutStore: true,
    make: ({ noisy }, size) =>
      sendMany(size === 'full' ? 1_000 : 64, 64, (place) => ask(noisy, questions[place % questions.length]!)),
  },
  {
    // Before the next one, which uses up the prompts of this person.
    name: '16 clients that get a thread of 3 MB',
    outcomes: ['200'],
    grownMbMax: usualGrownMbMax,
    isAboutStore: true,
    async make(world, size) {
      const threadId = await largeThread(world);
      const { api } = world.noisy;
      return (await sendMany(size === 'full' ? 200 : 32, 16, () => api.get(threadId))).map(formatStatus);
    },
  },
  {
    name: "1,500 threads with a member's cookie",
    outcomes: ['201', '429'],
    grownMbMax: usualGrownMbMax,
    isAboutStore: true,
    async make({ noisy: { admin, organizationId } }, size) {
      const path = admin.at('/threads', organizationId);
      return (
        await sendMany(size === 'full' ? 1_500 : 200, 16, () => admin.post(path, { prompt: 'Hello' }))
      ).map(formatStatus);
    },
  },
  {
    name: '24 live streams that do not read',
    outcomes: ['200', '429', cutOff],
    // The streams alone can take 50 MB (see unread-streams.test.ts). This figure also includes the requests of both
    // tenants.
    grownMbMax: 100,
    isAboutStore: true,
    async make(world, size) {
      const { noisy } = world;
      // 300 kB that every change of the thread sends to every stream again.
      const prompt = '長'.repeat(100_000);
      const { body } = await noisy.api.create({ prompt });
      const path = `/console/organizations/${noisy.organizationId}/threads/${body.thread.id}/events`;
      return openMany(world, 24, sessionRequest(noisy, path), async () => {
        for (let place = 0; place < (size === 'full' ? 60 : 15); place += 1) {
          await noisy.api.rename(body.thread.id, `Renamed ${place}`);
          await pause(110);
        }
      });
    },
  },
  {
    name: '200 clients that pipeline 200 lists each and read nothing',
    outcomes: ['200', cutOff],
    grownMbMax: usualGrownMbMax,
    isAboutStore: false,
    async make(world, size) {
      const [clients, lists] = size === 'full' ? [200, 200] : [50, 50];
      const list = `GET /api/v1/threads?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.noisy.key}\r\n\r\n`;
      // Longer than the service needs to fill the kernel's buffers for a connection.
      return openMany(world, clients, list.repeat(lists), () => pause(size === 'full' ? 5_000 : 500));
    },
  },
  {
    name: '40 sign-ins with 95,000 unknown keys',
    outcomes: ['400', cutOff],
    grownMbMax: usualGrownMbMax,
    isAboutStore: false,
    async make({ service }) {
      const keys = Array.from({ length: 95_000 }, (_, place) => `"k${place}":1`).join(',');
      const body = `{${keys}}`;
      const head =
        'POST /console/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Skein-Csrf: none\r\n' +
        `Content-Length: ${body.length}\r\n\r\n`;
      return sendMany(40, 40, async () => {
        const { socket, outcome } = openWithoutReading(service, head + body);
        const seen = await outcome;
        socket.destroy();
        return seen;
      });
    },
  },
  {
    name: "failed sign-ins at another's account",
    outcomes: ['401', '429', "200 for the account's owner"],
    grownMbMax: usualGrownMbMax,
    isAboutStore: false,
    async make({ service, quiet }, size) {
      const stranger = new ConsoleClient(service.baseUrl);
      const guesses = await sendMany(size === 'full' ? 400 : 60, 16, (place) =>
        stranger.signIn(quiet.email, `guess ${place}`),
      );
      // Sends only the device's cookie, because a sign-in ends the session whose cookie it sends.
      const owner = new ConsoleClient(service.baseUrl);
      owner.cookies.set('skein-device', quiet.admin.cookies.get('skein-device')!);
      const { status } = await owner.signIn(quiet.email, testPassword);
      return [...guesses.map(formatStatus), `${status} for the account's owner`];
    },
  },
  {
    name: 'walks through a whole listing',
    outcomes: ['200'],
    grownMbMax: usualGrownMbMax,
    isAboutStore: true,
    async make({ noisy: { api } }, size) {
      const walked = await sendMany(size === 'full' ? 64 : 8, 8, () => api.walk({ limit: 100 }));
      return walked.map(() => '200');
    },
  },
  {
    // This one comes last, because every later request of the organization is rejected.
    name: 'requests above the daily quota',
    outcomes: ['429'],
    grownMbMax: usualGrownMbMax,
    isAboutStore: true,
    async make({ service, noisy }, size) {
      await service.skein('org', 'set', noisy.organizationId, '--quota', '1');
      return (await sendMany(size === 'full' ? 20_000 : 300, 16, () => noisy.api.list())).map(formatStatus);
    },
  },
];
