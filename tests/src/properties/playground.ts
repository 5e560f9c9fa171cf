import assert from 'node:assert/strict';
import { Api } from '../../harness/http/api.ts';
import { operate, Service, temporaryFolder } from '../../harness/service/service.ts';
import { clockOffBy } from '../../harness/service/shifted-clock.ts';
import { hire, makeOrganization, type Operator } from '../../harness/world/tenants.ts';
import {
  type ModelThread,
  type Organization,
  organizationNames,
  type PrincipalName,
  ThreadModel,
} from './thread-model.ts';

type Maker = { readonly organization: Organization; readonly owner: PrincipalName };

/** Publishing is slow (one `skein` command each), so published threads are kept between runs, within these bounds. */
const publishedMin = 6;
const publishedMax = 12;

interface Setting {
  readonly window?: number;
  /** How far the service's clock is behind. */
  readonly behindMs?: number;
}

/** A store with a service for random commands, and the data that they leave behind between two runs. */
export class Playground {
  readonly #folder: string;
  readonly #store: Record<string, string>;
  readonly #keys: Record<PrincipalName, string>;
  readonly #organizations: Record<Organization, string>;
  readonly #makers = new Map<string, Maker>();
  #service: Service | undefined;
  #window = 10_000;
  #runs = 0;
  /** How often each situation that a property is about occurred. A situation that never occurs was not tested. */
  tally = emptyTally();

  private constructor(
    folder: string,
    store: Record<string, string>,
    organizations: Record<Organization, string>,
    keys: Record<PrincipalName, string>,
  ) {
    this.#folder = folder;
    this.#store = store;
    this.#organizations = organizations;
    this.#keys = keys;
  }

  /** `store` is the part of the environment that configures the store. No service runs yet. */
  static async make(store: Record<string, string>): Promise<Playground> {
    const folder = temporaryFolder();
    const operator: Operator = { skein: (...words) => operate(folder, words, store) };
    const home = await makeOrganization(operator, 'Home');
    const away = await makeOrganization(operator, 'Away');
    const keys = {
      ada: (await hire(operator, home, 'ada@example.com')).key,
      ben: (await hire(operator, home, 'ben@example.com')).key,
      service: (await operator.skein('key', 'create', home, '--org-wide')).key,
      carol: (await hire(operator, away, 'carol@example.com')).key,
    };
    return new Playground(folder, store, { home, away }, keys);
  }

  /** Starts the service, or restarts it on the same store. */
  async restart({ window = 10_000, behindMs = 0 }: Setting): Promise<void> {
    await this.end();
    this.#service = await Service.start({
      folder: this.#folder,
      environment: {
        ...this.#store,
        SKEIN_MODEL: 'scripted',
        SKEIN_PAGINATION_WINDOW: String(window),
        ...clockOffBy(-behindMs),
      },
    });
    this.#window = window;
    this.tally = emptyTally();
  }

  async end(): Promise<void> {
    await this.#service?.end();
  }

  get apis(): Record<PrincipalName, Api> {
    const api = (name: PrincipalName) => new Api(this.#service!.baseUrl, this.#keys[name]);
    return { ada: api('ada'), ben: api('ben'), service: api('service'), carol: api('carol') };
  }

  /** A name that no other run uses. */
  get runName(): string {
    return `run ${this.#runs}`;
  }

  /** A model of the current data: published threads of earlier runs, and a few new threads of each user. */
  async freshModel(operatorCalls: number): Promise<ThreadModel> {
    this.#runs += 1;
    const model = new ThreadModel(this.#window, operatorCalls);
    for (const [id, maker] of this.#makers) {
      const api = this.apis[maker.owner];
      const { status, body } = await api.get(id);
      const kept = status === 200 && body.thread.published && model.threads.size < publishedMax;
      if (kept) model.threads.set(id, modelThread(body.thread, maker));
      else if (status === 200) assert.equal((await api.delete(id)).status, 200);
      if (!kept) this.#makers.delete(id);
    }
    const wanted = Array.from({ length: publishedMin - model.threads.size }, (_, place) => place);
    await Promise.all(
      wanted.map(async (place) => {
        const thread = await this.#add(place);
        await this.publish(thread, true);
        model.threads.set(thread.id, { ...thread, published: true });
      }),
    );
    for (let place = 0; place < 9; place += 1) {
      const thread = await this.#add(place);
      model.threads.set(thread.id, thread);
    }
    return model;
  }

  async #add(place: number): Promise<ModelThread> {
    const owner = (['ada', 'ben', 'carol'] as const)[place % 3] as PrincipalName;
    const account = place % 2 === 0 ? {} : { accountId: 'x' };
    const { body } = await this.apis[owner].create({ prompt: `There before: ${place}`, ...account });
    return this.note(body.thread, { owner, organization: organizationNames[owner] });
  }

  /** Records a created thread, so that it is removed before the next run. */
  note(shown: Record<string, unknown>, maker: Maker): ModelThread {
    const thread = modelThread(shown, maker);
    this.#makers.set(thread.id, maker);
    return thread;
  }

  async publish({ id, organization }: ModelThread, published: boolean): Promise<void> {
    const verb = published ? 'publish' : 'unpublish';
    await this.#service!.skein('thread', verb, this.#organizations[organization], id);
  }
}

function emptyTally() {
  return { pages: 0, renamedSince: 0, deletedSince: 0, publicationChanged: 0, truncated: 0, whole: 0 };
}

function modelThread(shown: any, maker: Maker): ModelThread {
  const { id, title, accountId, createdAt, updatedAt, published, deleted } = shown;
  return { id, title, accountId, createdAt, updatedAt, published, deleted, ...maker };
}

/** Fails unless a response shows the thread with all fields of the model, except for its creator. */
export function assertShows(shown: any, { organization, owner, ...fields }: ModelThread): void {
  const { threadUrl, secondaryId, ...rest } = shown;
  assert.deepEqual({ organization, owner, ...rest }, { organization, owner, ...fields });
}
