import assert from 'node:assert/strict';
import { Api } from '../../harness/http/api.ts';
import { operate as runOperator, Service } from '../../harness/service/service.ts';
import { exchange, type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { createThread, type Made } from '../../harness/world/world.ts';
import { type PeopleHeld, peopleFacts } from './people-facts.ts';

const environment = { SKEIN_MODEL: 'scripted' };
const pageSize = 3;

type Person = 'ada' | 'eve';
const people: readonly Person[] = ['ada', 'eve'];

/** The credentials, cursors and idempotency keys that callers hold while the service moves. */
export interface Held {
  readonly cursors: { readonly person: Person; readonly cursor: string; readonly restOfWalk: string[] }[];
  readonly idempotent: { readonly person: Person; readonly key: string; readonly answer: any }[];
  readonly tokens: string[];
  readonly applications: IssuedApplication[];
  readonly people: PeopleHeld;
}

export function nothingHeldBut(people: PeopleHeld): Held {
  return { cursors: [], idempotent: [], tokens: [], applications: [], people };
}

/** A service on a store, and the operator's command on the same store. */
export interface Served {
  readonly service: Service;
  readonly made: Made;
  operate(...words: string[]): Promise<any>;
}

export async function serveStore(folder: string, url: string, made: Made): Promise<Served> {
  const service = await Service.start({ folder, environment: { ...environment, SKEIN_DATABASE_URL: url } });
  return { service, made, operate: (...words) => operate(folder, url, ...words) };
}

const as = ({ service, made }: Served, person: Person) => new Api(service.baseUrl, made[`${person}Key`].key);

/**
 * Creates data in two organizations with every feature that leaves something behind: accounts, publishing, deletion,
 * idempotency keys, applications, and walks during which threads are created and renamed.
 */
export async function work(store: Served, held: Held, round: string): Promise<void> {
  await Promise.all(people.map((person) => workAs(person, store, held, round)));
}

async function workAs(person: Person, store: Served, held: Held, round: string): Promise<void> {
  const { service, made } = store;
  const api = as(store, person);
  const organization = person === 'ada' ? made.acme : made.globex;
  const threads: any[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    const account = turn % 2 === 0 ? {} : { accountId: `acct "${turn}"` };
    const prompt = `Prompt ${round} ${turn} – ünï 🧶\n#step Look\n#say Answer ${turn}.`;
    threads.push((await createThread(api, { prompt, title: `${round} ${turn}`, ...account })).thread);
  }
  const key = `once-${round}`;
  const { body: answer } = await api.create({ prompt: `#say ${key}` }, { 'idempotency-key': key });
  held.idempotent.push({ person, key, answer: placeless(service, answer) });
  await store.operate('thread', 'publish', organization, threads[3].id);
  assert.equal((await api.delete(threads[4].id)).status, 200);
  // Renames before the walk, in the part that it has passed, and in the part that it has not reached.
  await api.rename(threads[0].id, `${round} 0, before`);
  const { body: page } = await api.list({ limit: pageSize });
  for (const place of [7, 2, 1]) await api.rename(threads[place].id, `${round} ${place}, since`);
  await createThread(api, { prompt: '#say Late.', title: `${round} late` });
  const cursor = page.nextCursor;
  held.cursors.push({ person, cursor, restOfWalk: await restOfWalk(api, cursor) });
  for (const { id } of await api.walk({ limit: 100 })) await api.untilDone(id);
  const application = await makeApplication({ skein: store.operate }, organization);
  held.applications.push(application);
  held.tokens.push(await exchange(service.baseUrl, application));
}

/** What can be seen of a store from outside. Equal facts mean equal stores. */
export async function collectFacts(store: Served, held: Held): Promise<unknown> {
  const { service, made, operate } = store;
  const facts: Record<string, unknown> = {};
  for (const person of people) {
    const api = as(store, person);
    const threads = await api.walk({ limit: 100 });
    facts[`${person} lists`] = threads;
    facts[`${person} lists an account`] = await api.walk({ accountId: 'acct "3"' });
    facts[`${person} reads`] = await Promise.all(threads.map(async ({ id }) => (await api.get(id)).body));
  }
  facts['an org-wide key lists'] = await new Api(service.baseUrl, made.wideKey.key).walk();
  facts.cursors = await Promise.all(
    held.cursors.map(({ person, cursor }) => restOfWalk(as(store, person), cursor)),
  );
  facts.tokens = await Promise.all(
    held.tokens.map(async (token) => (await new Api(service.baseUrl, token).list()).status),
  );
  for (const application of held.applications) await exchange(service.baseUrl, application);
  for (const { person, key, answer } of held.idempotent) {
    const again = await as(store, person).create({ prompt: `#say ${key}` }, { 'idempotency-key': key });
    assert.deepEqual(placeless(service, again.body), answer, 'the same key and body, the same answer');
  }
  facts.people = await peopleFacts(service, held.people);
  [facts.keys, facts.members, facts.changes, facts.found, facts.foundByName] = await Promise.all([
    listKeys(store),
    operate('member', 'list', made.acme),
    changesIn(store),
    operate('doc', 'search', made.acme, 'How long do refunds take?'),
    operate('doc', 'search', made.acme, 'guide'),
  ]);
  assert.ok((facts.found as any).passages.length > 0, 'the document is found by its words');
  return placeless(service, facts);
}

/** Without the time of last use, because collecting these facts uses the keys. */
async function listKeys({ operate, made }: Served): Promise<unknown> {
  const keys: { lastUsedAt: string | null }[] = await operate('key', 'list', made.acme);
  return keys.map(({ lastUsedAt, ...key }) => key);
}

/** The audit log without sign-ins, because collecting these facts signs in. */
async function changesIn({ operate, made }: Served): Promise<unknown> {
  const events: { action: string }[] = await operate('audit', made.acme, '--limit', '100');
  const changes = events.filter(({ action }) => action !== 'session.started');
  assert.ok(changes.length > 5);
  return changes;
}

/** Removes the address of this process, which is part of every `threadUrl`. */
function placeless(service: Service, value: unknown): any {
  return JSON.parse(JSON.stringify(value).replaceAll(service.baseUrl, 'http://skein.example'));
}

async function restOfWalk(api: Api, cursor: string): Promise<string[]> {
  const ids: string[] = [];
  let next: string | null = cursor;
  while (next !== null) {
    const { status, body } = await api.list({ limit: pageSize, cursor: next });
    assert.equal(status, 200);
    ids.push(...body.threads.map(({ id }: { id: string }) => id));
    next = body.nextCursor;
  }
  return ids;
}

/** Runs an operator's command on a store, which must succeed. Returns its JSON. */
export function operate(folder: string, url: string, ...words: string[]): Promise<any> {
  return runOperator(folder, words, { SKEIN_DATABASE_URL: url });
}
