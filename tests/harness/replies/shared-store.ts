import { after } from 'node:test';
import { Api } from '../http/api.ts';
import { Service } from '../service/service.ts';
import { type Made, prepareStore } from '../world/world.ts';

type Environment = Record<string, string>;
type Person = 'ada' | 'ben' | 'eve' | 'wide';

const prepared: SharedStore[] = [];

/** Stops the processes on all stores, even if a test has failed halfway. */
export async function killAllProcesses(): Promise<void> {
  await Promise.all(prepared.map((store) => store.killAll()));
}

// Registered while the module loads, so that it belongs to the whole process and not to the file that asks first.
after(killAllProcesses);

/** One store, and the processes that use it, one after the other or several at once. Tests need not stop them. */
export class SharedStore {
  readonly folder: string;
  readonly made: Made;
  readonly #environment: Environment;
  readonly #started: Service[] = [];

  private constructor({ folder, ...made }: Made & { folder: string }, environment: Environment) {
    this.folder = folder;
    this.made = made;
    this.#environment = { SKEIN_MODEL: 'scripted', ...environment };
  }

  /** `environment` applies to every process on the store. */
  static async prepare(environment: Environment = {}): Promise<SharedStore> {
    const store = new SharedStore(await prepareStore(), environment);
    prepared.push(store);
    return store;
  }

  async start(role: 'all' | 'api' | 'worker' = 'all', environment: Environment = {}): Promise<Service> {
    const service = await Service.start({
      folder: this.folder,
      words: ['--role', role],
      environment: { ...this.#environment, ...environment },
    });
    this.#started.push(service);
    return service;
  }

  /** The public API of one process, with the key of one person. */
  as(person: Person, service: Service): Api {
    return new Api(service.baseUrl, this.made[`${person}Key`].key);
  }

  /** Raises the quota, so that a test that polls does not reach it. */
  async allowMany(service: Service, organization: 'acme' | 'globex' = 'acme'): Promise<void> {
    await service.skein('org', 'set', this.made[organization], '--quota', '10000000');
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#started.map((service) => service.end('SIGKILL')));
  }
}

/** The number of replies in progress, as reported by doctor. */
export async function countRunningReplies(service: Service): Promise<number> {
  const { healthy, findings } = await service.skein('doctor');
  if (!healthy) throw new Error(`doctor reported problems: ${JSON.stringify(findings)}`);
  const { detail } = findings.find(({ check }: { check: string }) => check === 'replies');
  return Number.parseInt(detail, 10);
}
