import assert from 'node:assert/strict';
import { Api } from '../http/api.ts';
import { startAddressed } from '../oauth/addressed-service.ts';
import { dropDatabase, testDatabase } from '../postgres/databases.ts';
import { type CommandOutcome, operate, runSkein, Service, temporaryFolder } from '../service/service.ts';
import { hire, makeOrganization } from '../world/tenants.ts';

type Environment = Record<string, string>;

/** One store, a PostgreSQL database unless a test says otherwise, the nodes that share it, and Ada of Acme, who calls them. */
export class Nodes {
  readonly databaseUrl: string;
  readonly #environment: Environment;
  readonly #folder = temporaryFolder();
  readonly #started: Service[] = [];
  #organization = '';
  #key = '';

  constructor(databaseUrl: string, environment: Environment = {}) {
    this.databaseUrl = databaseUrl;
    this.#environment = { SKEIN_MODEL: 'scripted', SKEIN_DATABASE_URL: databaseUrl, ...environment };
  }

  /** Uses a new database on the tests' own server unless a URL is given. */
  static async prepare(environment: Environment = {}, databaseUrl?: string): Promise<Nodes> {
    const nodes = new Nodes(databaseUrl ?? (await testDatabase()), environment);
    await nodes.hireAda();
    return nodes;
  }

  async hireAda(): Promise<void> {
    this.#organization = await makeOrganization(this, 'Acme');
    this.#key = (await hire(this, this.#organization, 'ada@acme.example')).key;
  }

  get organization(): string {
    return this.#organization;
  }

  get adaKey(): string {
    return this.#key;
  }

  async start(role: 'all' | 'api' | 'worker' = 'all', environment: Environment = {}): Promise<Service> {
    const service = await Service.start({
      folder: this.#folder,
      words: ['--role', role],
      environment: { ...this.#environment, ...environment },
    });
    this.#started.push(service);
    return service;
  }

  /** Starts a node that callers reach at `baseUrl`, for example through a proxy. It listens at `address`. */
  async startBehind(baseUrl: string): Promise<Service & { readonly address: string }> {
    const service = await startAddressed(
      () => ({ ...this.#environment, SKEIN_BASE_URL: baseUrl }),
      this.#folder,
    );
    this.#started.push(service);
    return Object.assign(service, { address: `http://127.0.0.1:${service.port}` });
  }

  ada(node: Service): Api {
    return new Api(node.baseUrl, this.#key);
  }

  /** Runs the `skein` command on a machine that is not one of the nodes. */
  run(...words: string[]): Promise<CommandOutcome> {
    return runSkein(this.#folder, words, { SKEIN_DATABASE_URL: this.databaseUrl });
  }

  /** Runs a command that must succeed, and returns its JSON. */
  async skein(...words: string[]): Promise<any> {
    return operate(this.#folder, words, { SKEIN_DATABASE_URL: this.databaseUrl });
  }

  /** Stops everything, even if a test has failed halfway. */
  async end(): Promise<void> {
    await Promise.all(this.#started.map((service) => service.end('SIGKILL')));
    if (/\/skein_test_\w+$/.test(this.databaseUrl)) await dropDatabase(this.databaseUrl);
  }
}

/** Whether a node reports that it is ready. */
export async function isReady({ baseUrl }: Service): Promise<boolean> {
  const { status } = await fetch(`${baseUrl}/readyz`);
  assert.ok(status === 200 || status === 503, `/readyz answered ${status}`);
  return status === 200;
}

/** The lines of a node's log that report an internal error. */
export function listFaults({ output }: Service): string[] {
  return output.filter((line) => /"level":(?:50|60)/.test(line));
}
