import assert from 'node:assert/strict';
import { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { request } from '../../harness/http/request.ts';
import { operate, type Service, temporaryFolder } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { exchange, makeApplication } from '../../harness/world/applications.ts';
import {
  makeMember,
  makeOrganization,
  makeOrgWideKey,
  makePersonalKey,
} from '../../harness/world/tenants.ts';
import {
  type Cell,
  type CredentialName,
  credentials,
  expectedOutcome,
  formatTarget,
  isReadable,
  type Owner,
  type Standing,
  type Target,
  type ThreadKind,
  targets,
} from './access-rules.ts';

type Side = ThreadKind['organization'];
const owners: readonly Owner[] = ['ada', 'ben'];
const sides: readonly Side[] = ['own', 'another'];

/** Two organizations with the same two members, a thread of every kind, and a credential of every kind. */
export class AccessWorld {
  readonly service: Service;
  readonly missingId = `thr_${'0'.repeat(26)}`;
  readonly #organizations: Record<Side, string>;
  readonly #credentials: Record<CredentialName, string | undefined>;
  readonly #ownerKeys: Record<Side, Record<Owner, string>>;
  /** Every thread created here, by id. */
  readonly #threads = new Map<string, ThreadKind>();
  /** The thread that the cells of a target share. A cell that may delete its thread gets its own. */
  readonly #shared = new Map<string, string>();
  readonly #doomed = new Map<string, string>();

  private constructor(
    service: Service,
    organizations: Record<Side, string>,
    issued: Record<CredentialName, string | undefined>,
    ownerKeys: Record<Side, Record<Owner, string>>,
  ) {
    this.service = service;
    this.#organizations = organizations;
    this.#credentials = issued;
    this.#ownerKeys = ownerKeys;
  }

  /** `store` is the part of the environment that configures the store. */
  static async make(store: Record<string, string>): Promise<AccessWorld> {
    const service = await sharedService(store);
    const [own, another] = await Promise.all([
      makeOrganization(service, 'Own'),
      makeOrganization(service, 'Another'),
    ]);
    const [ada, ben, foreignAda, foreignBen, orgWide, revokedOrgWide, unknown] = await Promise.all([
      makeMember(service, own, 'ada@example.com'),
      makeMember(service, own, 'ben@example.com'),
      makeMember(service, another, 'ada@example.com'),
      makeMember(service, another, 'ben@example.com'),
      makeOrgWideKey(service, own),
      makeOrgWideKey(service, own),
      keyOfAnotherStore(),
    ]);
    const revokedPersonal = await makePersonalKey(service, own, 'ada@example.com');
    for (const { id, api } of [revokedPersonal, revokedOrgWide]) {
      assert.equal((await api.list()).status, 200, 'a revoked key must have been a good one');
      await service.skein('key', 'revoke', own, id);
    }
    const [token, deletedToken, rotatedToken] = await makeTokens(service, own);
    const world = new AccessWorld(
      service,
      { own, another },
      {
        none: undefined,
        malformed: mistyped(ada.key),
        unknown,
        'revoked personal key': revokedPersonal.key,
        'revoked org-wide key': revokedOrgWide.key,
        'token of a deleted application': deletedToken,
        'token of a rotated application': rotatedToken,
        "Ada's personal key": ada.key,
        "Ben's personal key": ben.key,
        'org-wide key': orgWide.key,
        'application token': token,
      },
      { own: { ada: ada.key, ben: ben.key }, another: { ada: foreignAda.key, ben: foreignBen.key } },
    );
    await world.#makeThreads();
    return world;
  }

  createApi(credential: CredentialName): Api {
    return new Api(this.service.baseUrl, this.#credentials[credential]);
  }

  async #makeThreads(): Promise<void> {
    const kinds = targets.filter((target) => typeof target !== 'string');
    const deletable = kinds.filter(({ organization, deleted }) => organization === 'own' && !deleted);
    await Promise.all([
      ...kinds.map(async (kind) => this.#shared.set(formatTarget(kind), await this.#makeThread(kind))),
      ...deletable.map(async (kind) => this.#doomed.set(formatTarget(kind), await this.#makeThread(kind))),
    ]);
  }

  async #makeThread(kind: ThreadKind): Promise<string> {
    const { organization, owner, published, deleted } = kind;
    const api = new Api(this.service.baseUrl, this.#ownerKeys[organization][owner]);
    const { id } = (await api.create({ prompt: 'Who may read this?', accountId: formatTarget(kind) })).body
      .thread;
    await api.untilDone(id);
    if (published) await this.service.skein('thread', 'publish', this.#organizations[organization], id);
    assert.equal((await api.get(id)).body.thread.published, published);
    if (deleted) assert.equal((await api.delete(id)).status, 200);
    this.#threads.set(id, kind);
    return id;
  }

  async bringTo(standing: Standing): Promise<void> {
    const api = standing === 'without the API' ? 'off' : 'on';
    const quota = standing === 'out of quota' ? '0' : '10000000';
    await this.service.skein('org', 'set', this.#organizations.own, '--api', api, '--quota', quota);
  }

  findId(cell: Cell): string {
    if (cell.target === 'missing') return this.missingId;
    if (cell.target === 'malformed id') return 'nonsense';
    const succeeds = cell.operation === 'delete' && expectedOutcome(cell).code === undefined;
    return (succeeds ? this.#doomed : this.#shared).get(formatTarget(cell.target)) as string;
  }

  perform(cell: Cell): Promise<ApiResponse> {
    const api = this.createApi(cell.credential);
    const id = this.findId(cell);
    switch (cell.operation) {
      case 'create':
        return api.create({ prompt: titleGivenBy(cell), accountId: 'created by a cell' });
      case 'create with an invalid body':
        return api.create({ prompt: '' });
      case 'get':
        return api.get(id);
      case 'list':
        return api.list({ accountId: formatTarget(cell.target), limit: 100 });
      case 'list with an invalid query':
        return api.list({ limit: 0 });
      case 'rename':
        return api.rename(id, titleGivenBy(cell));
      case 'rename with an invalid body':
        return api.call('PATCH', `/threads/${id}`, { body: { title: titleGivenBy(cell), published: true } });
      case 'delete':
        return api.delete(id);
    }
  }

  /** Records the effect of an operation that was allowed. */
  record(cell: Cell, { body }: ApiResponse): void {
    const identity = credentials[cell.credential] as Owner;
    if (cell.operation === 'create') {
      this.#threads.set(body.thread.id, {
        organization: 'own',
        owner: identity,
        published: false,
        deleted: false,
      });
    }
    if (cell.operation === 'delete') {
      this.#threads.set(body.id, { ...(this.#threads.get(body.id) as ThreadKind), deleted: true });
    }
  }

  /** The ids of all threads that a credential must find; with a target, only those of its kind. */
  readableIds(credential: CredentialName, target?: Target): string[] {
    const name = target && formatTarget(target);
    const belongs = (id: string) =>
      name === undefined || id === this.#shared.get(name) || id === this.#doomed.get(name);
    return [...this.#threads]
      .filter(([id, kind]) => belongs(id) && isReadable(kind, credentials[credential]))
      .map(([id]) => id)
      .sort();
  }

  /**
   * Everything that the owners can see of both organizations' threads, and each thread of a target with its messages, as
   * text that can be compared.
   */
  async snapshot(): Promise<string> {
    const views = sides.flatMap((side) => owners.map((owner) => this.#ownerKeys[side][owner]));
    const threads = [...this.#shared.values(), ...this.#doomed.values()].map((id) => {
      const { organization, owner } = this.#threads.get(id) as ThreadKind;
      return this.#read(`/threads/${id}`, this.#ownerKeys[organization][owner]);
    });
    const lists = views.map((key) => this.#read('/threads?limit=100', key));
    return (await Promise.all([...lists, ...threads])).join('\n');
  }

  /**
   * The response without the trace ID of a failure. There are many snapshots, so they are not checked against
   * openapi.json.
   */
  async #read(path: string, key: string): Promise<string> {
    const { status, text } = await request(`${this.service.baseUrl}/api/v1${path}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.ok(!/"nextCursor":"/.test(text), 'one page shows all');
    return `${status} ${text.replace(/"trace_id":"[^"]*"/, '')}`;
  }
}

export function titleGivenBy({ credential, operation, target }: Cell): string {
  return `${operation} by ${credential}: ${formatTarget(target)}`;
}

/**
 * Tokens of three applications, all valid when issued: one is still valid, one application was deleted, one got a new
 * secret.
 */
async function makeTokens(service: Service, organization: string): Promise<[string, string, string]> {
  const make = async () => {
    const application = await makeApplication(service, organization);
    const token = await exchange(service.baseUrl, application);
    assert.equal(
      (await new Api(service.baseUrl, token).list()).status,
      200,
      'every token must have been good',
    );
    return { ...application, token };
  };
  const [kept, deleted, rotated] = await Promise.all([make(), make(), make()]);
  await Promise.all([
    service.skein('app', 'delete', organization, deleted.clientId),
    service.skein('app', 'rotate', organization, rotated.clientId),
  ]);
  return [kept.token, deleted.token, rotated.token];
}

/** A key that is valid in every respect, but was issued by another store. */
async function keyOfAnotherStore(): Promise<string> {
  const folder = temporaryFolder();
  await operate(folder, ['org', 'create', 'Elsewhere']);
  const { key } = await operate(folder, ['key', 'create', 'Elsewhere', '--org-wide']);
  return key;
}

function mistyped(key: string): string {
  const last = key.at(-1) === 'a' ? 'b' : 'a';
  return key.slice(0, -1) + last;
}
