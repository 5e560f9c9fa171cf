import assert from 'node:assert/strict';
import { Api } from './api.ts';
import type { Answer } from './conformance.ts';
import { runSkein, Service, temporaryFolder } from './service.ts';

interface Key {
  readonly id: string;
  readonly key: string;
}

/** Acme on a service of its own, with one member: Ada. */
export interface Acme {
  readonly service: Service;
  readonly acme: string;
  readonly ada: Api;
  readonly adaKey: Key;
  readonly nobody: Api;
  /** The public interface by another credential. */
  as(key: string): Api;
  publish(...threadIds: string[]): Promise<void>;
  end(): Promise<void>;
}

/** Two organizations: Ada and Ben work at Acme, Eve at Globex; Acme has an org-wide key, too. */
export interface World extends Acme {
  readonly globex: string;
  readonly ben: Api;
  readonly benKey: Key;
  readonly eve: Api;
  readonly acmeWide: Api;
}

export async function startAcme(environment: Record<string, string> = {}): Promise<Acme> {
  return openAcme(await foundAcme(), environment);
}

export async function startWorld(environment: Record<string, string> = {}): Promise<World> {
  const ground = await foundAcme();
  const { folder, acme } = ground;
  const [opened, benKey, wideKey, [globex, eveKey]] = await Promise.all([
    openAcme(ground, environment),
    hire(folder, acme, 'ben@acme.example'),
    operate(folder, 'key', 'create', acme, '--org-wide') as Promise<Key>,
    operate(folder, 'org', 'create', 'Globex').then(
      async ({ id }) => [id as string, await hire(folder, id, 'eve@globex.example')] as const,
    ),
  ]);
  const { as } = opened;
  return {
    ...opened,
    globex,
    benKey,
    ben: as(benKey.key),
    eve: as(eveKey.key),
    acmeWide: as(wideKey.key),
  };
}

interface Ground {
  readonly folder: string;
  readonly acme: string;
}

/** The store exists before the service and the other commands meet on it; from then on they run beside each other. */
async function foundAcme(): Promise<Ground> {
  const folder = temporaryFolder();
  return { folder, acme: (await operate(folder, 'org', 'create', 'Acme')).id };
}

async function openAcme({ folder, acme }: Ground, environment: Record<string, string>): Promise<Acme> {
  const [service, adaKey] = await Promise.all([
    Service.start({ folder, environment: { SKEIN_MODEL: 'scripted', ...environment } }),
    hire(folder, acme, 'ada@acme.example'),
  ]);
  const as = (key: string) => new Api(service.baseUrl, key);
  return {
    service,
    acme,
    ada: as(adaKey.key),
    adaKey,
    nobody: new Api(service.baseUrl),
    as,
    publish: async (...threadIds) => {
      await Promise.all(threadIds.map((id) => operate(folder, 'thread', 'publish', acme, id)));
    },
    end: async () => assert.equal(await service.end(), 0, 'the service stops cleanly'),
  };
}

/** A new member of the organization, and a personal key of theirs. */
async function hire(folder: string, organization: string, email: string): Promise<Key> {
  await operate(folder, 'member', 'add', organization, email);
  return operate(folder, 'key', 'create', organization, '--user', email);
}

async function operate(folder: string, ...words: string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await runSkein(folder, [...words, '--json']);
  assert.equal(exitCode, 0, `skein ${words.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

/** A thread that was really created, with the ids of its messages. */
export async function createThread(api: Api, body: object = {}): Promise<any> {
  const answer = await api.create({ prompt: 'What is a skein?', ...body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

const statusOf = {
  INVALID_PARAMS: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
} as const;

/** Fails unless the answer is this failure: its code, and the status that goes with it (§7). */
export function assertFails(answer: Answer, code: keyof typeof statusOf, what = ''): void {
  const found = `${what} answered ${answer.status} ${JSON.stringify(answer.body)}`;
  assert.equal(answer.body?.error?.code, code, found);
  assert.equal(answer.status, statusOf[code], found);
}

/** Fails unless the refusal is `INVALID_PARAMS` and its message names the field. */
export function assertInvalid(answer: Answer, field: string, what = ''): void {
  assertFails(answer, 'INVALID_PARAMS', what);
  assert.ok(
    answer.body.error.message.includes(`${field}:`),
    `${what} must name ${field}: ${answer.body.error.message}`,
  );
}
