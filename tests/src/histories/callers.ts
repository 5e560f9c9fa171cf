import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../harness/fuzz/chance.ts';
import { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { sendMany } from '../../harness/http/load.ts';
import { type Call, type Credential, isUnknown, type SeenThread } from './history.ts';

const pauseAfterFailureMs = 50;
/** A paused process sends no response; its callers go on after this time. */
const responseWithinMs = 10_000;
const pageSize = 7;
const readsAtOnce = 8;
/** How long a reply is written: long enough for faults to hit some replies in the middle. */
const replyMs = 150;

/** A thread as its creator knows it. `title` is the one it was created with. */
interface OwnThread {
  readonly id: string;
  readonly title: string;
  readonly owner: Credential;
  renames: number;
}

/** Callers that use the public API at random and record every call. */
export class Callers {
  readonly calls: Call[] = [];
  readonly #addresses: () => readonly string[];
  readonly #chance: Chance;
  readonly #threads: OwnThread[] = [];
  #titles = 0;
  #walks = 0;
  #isEnough = false;

  /**
   * `addresses` returns the base URLs of the nodes at the time of a call. A seed repeats the choices of the callers, but
   * not the timing of real processes.
   */
  constructor(addresses: () => readonly string[], chance: Chance) {
    this.#addresses = addresses;
    this.#chance = chance;
  }

  /**
   * Makes one call after another with one key, until `stop`. A revoked key is used a few more times. At half load, a
   * caller pauses after each call for as long as the call took.
   */
  async run(credential: Credential, isRevoked: () => boolean, isHalfLoad = false): Promise<void> {
    for (let usesLeft = 5; !this.#isEnough && usesLeft > 0; ) {
      if (isRevoked()) usesLeft -= 1;
      const before = this.calls.length;
      const startedAt = performance.now();
      await this.#callOnce(credential);
      if (this.calls.slice(before).some(isUnknown)) await pause(pauseAfterFailureMs);
      else if (isHalfLoad) await pause(performance.now() - startedAt);
    }
  }

  stop(): void {
    this.#isEnough = true;
  }

  /** After the round, reads every thread until its reply has ended or `withinMs` have passed, and walks every listing. */
  async readAll(credentials: readonly Credential[], withinMs: number): Promise<void> {
    const credentialsByUser = new Map(credentials.map((credential) => [credential.user, credential]));
    for (const credential of credentialsByUser.values()) await this.#walk(credential);
    // A create without a response is known from the listing.
    const ids = new Map(this.#threads.map(({ id, owner }) => [id, owner.user]));
    for (const call of this.calls) {
      if (call.kind === 'page') for (const { id } of call.threads) ids.set(id, call.credential.user);
    }
    const all = [...ids];
    await sendMany(ids.size, readsAtOnce, async (place) => {
      const [id, user] = all[place]!;
      const credential = credentialsByUser.get(user)!;
      // From its first read on: a slow machine takes a while to get to the last thread.
      const deadline = performance.now() + withinMs;
      while (performance.now() < deadline) {
        const seen = await this.#get(credential, id);
        if (seen === 'missing' || seen?.reply.completedAt) break;
        await pause(pauseAfterFailureMs);
      }
    });
  }

  async #callOnce(credential: Credential): Promise<void> {
    const choice = this.#chance.fraction();
    const thread = this.#pick(({ owner }) => owner.user === credential.user);
    if (thread === undefined || choice < 0.2) await this.#create(credential);
    else if (choice < 0.65) await this.#get(credential, thread.id);
    else if (choice < 0.8) await this.#rename(credential, thread);
    else if (choice < 0.85) await this.#delete(credential, thread.id);
    else if (choice < 0.95) await this.#walk(credential);
    else await this.#intrude(credential);
  }

  /** One of the threads that fit, usually a recent one: most faults concern replies that are being written. */
  #pick(fits: (thread: OwnThread) => boolean): OwnThread | undefined {
    const fitting = this.#threads.filter(fits);
    const recent = this.#chance.below(2) === 0 ? fitting.slice(-4) : fitting;
    return recent.length === 0 ? undefined : this.#chance.pick(recent);
  }

  /** Retries a create without a response with the same Idempotency-Key, as clients do. */
  async #create(credential: Credential): Promise<void> {
    this.#titles += 1;
    const title = `T${this.#titles}`;
    const reply = `Reply to ${title}.`;
    const body = { title, prompt: `#say Reply \n#wait ${replyMs}\n#say to ${title}.` };
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const headers = { 'idempotency-key': title };
      const { call, answer } = await this.#call(credential, (api) => api.create(body, headers));
      const id: string | undefined = call.status === 201 ? answer.thread.id : undefined;
      this.calls.push({ ...call, kind: 'create', id, title, reply });
      if (id !== undefined) this.#threads.push({ id, title, owner: credential, renames: 0 });
      if (!isUnknown(call) || this.#isEnough) return;
      await pause(pauseAfterFailureMs * attempt);
    }
  }

  async #get(credential: Credential, id: string) {
    const { call, answer } = await this.#call(credential, (api) => api.get(id));
    const seen = call.status === 200 ? toRead(answer) : undefined;
    this.calls.push({ ...call, kind: 'get', id, seen });
    return call.status === 404 ? 'missing' : seen;
  }

  async #rename(credential: Credential, thread: OwnThread): Promise<void> {
    thread.renames += 1;
    const title = `${thread.title},${thread.renames}`;
    const { call } = await this.#call(credential, (api) => api.rename(thread.id, title));
    this.calls.push({ ...call, kind: 'rename', id: thread.id, title });
  }

  async #delete(credential: Credential, id: string): Promise<void> {
    const { call } = await this.#call(credential, (api) => api.delete(id));
    this.calls.push({ ...call, kind: 'delete', id });
  }

  async #walk(credential: Credential): Promise<void> {
    this.#walks += 1;
    const walk = this.#walks;
    let cursor: string | null | undefined;
    for (let failures = 0; cursor !== null && failures < 20; ) {
      const query = { limit: pageSize, ...(cursor !== undefined && { cursor }) };
      const { call, answer } = await this.#call(credential, (api) => api.list(query));
      const threads: SeenThread[] = call.status === 200 ? answer.threads.map(toSeenThread) : [];
      if (call.status === 200) cursor = answer.nextCursor;
      this.calls.push({ ...call, kind: 'page', walk, threads, isLast: cursor === null });
      if (call.status === 200) continue;
      if (!isUnknown(call)) return;
      failures += 1;
      await pause(pauseAfterFailureMs);
    }
  }

  /** Tries to read or change a thread of somebody else. */
  async #intrude(credential: Credential): Promise<void> {
    const thread = this.#pick(({ owner }) => owner.user !== credential.user);
    if (thread === undefined) return;
    if (this.#chance.below(2) === 0) await this.#get(credential, thread.id);
    else await this.#delete(credential, thread.id);
  }

  async #call(credential: Credential, send: (api: Api) => Promise<ApiResponse>) {
    const address = this.#chance.pick(this.#addresses());
    const startedAt = performance.now();
    const timeout = new AbortController();
    const response = await Promise.race([
      send(new Api(address, credential.key)).catch(connectionLost),
      pause(responseWithinMs, { failure: 'timeout' }, { signal: timeout.signal }).catch(() => ({
        failure: '',
      })),
    ]);
    timeout.abort();
    const call = { credential, startedAt, endedAt: performance.now() };
    if ('failure' in response) return { call: { ...call, status: undefined, failure: response.failure } };
    return { call: { ...call, status: response.status }, answer: response.body };
  }
}

/** A missing response is a valid outcome here; an unexpected response is not. */
function connectionLost(error: unknown): { failure: string } {
  if (!(error instanceof TypeError)) throw error;
  return { failure: String(error.cause) };
}

function toSeenThread({ id, title, createdAt, updatedAt }: any): SeenThread {
  return { id, title, activity: updatedAt ?? createdAt };
}

function toRead({ thread, messages }: any) {
  const { status, content, completedAt } = messages[1];
  return { ...toSeenThread(thread), reply: { status, content, completedAt } };
}
