import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { SmallDisk } from '../../harness/disk/small-disk.ts';
import { DatabaseProxy } from '../../harness/nodes/database-proxy.ts';
import { isReady } from '../../harness/nodes/nodes.ts';
import { PgBouncer } from '../../harness/nodes/pgbouncer.ts';
import { type PostgresServer, startPostgres } from '../../harness/postgres/server.ts';
import { type Standby, startStandby } from '../../harness/postgres/standby.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { canMount, findProgram } from '../../harness/service/machine.ts';
import { operate, Service, temporaryFolder } from '../../harness/service/service.ts';
import { clockThatLeaps } from '../../harness/service/shifted-clock.ts';
import type { Fault } from './history.ts';
import { findPatroni, PatroniCluster } from './patroni.ts';

const leaseMs = 1000;
const leapMs = 5000;
const outageMs = 700;
const readyWithinMs = 60_000;

const environment = {
  SKEIN_MODEL: 'scripted',
  SKEIN_REPLY_LEASE_MS: String(leaseMs),
  SKEIN_REPLY_DEADLINE_MS: '600000',
  SKEIN_DAILY_QUOTA: '100000000',
  ...clockThatLeaps(leapMs),
};

/** In session mode, every connection of a node holds a server connection, so there must be enough for both nodes. */
const poolerSettings = { pool_mode: 'session', default_pool_size: '100', server_login_retry: '1' };

/** Two nodes on one store, and everything that can be done to them. */
export class Site {
  readonly faults: readonly Fault[];
  readonly #folder: string;
  readonly #store: Record<string, string>;
  readonly #removeStore: () => Promise<void>;
  readonly #nodes: Service[] = [];

  private constructor(
    folder: string,
    store: Record<string, string>,
    storeFaults: readonly Fault[],
    removeStore: () => Promise<void>,
  ) {
    this.#folder = folder;
    this.#store = store;
    this.#removeStore = removeStore;
    this.faults = [...this.#nodeFaults(), ...storeFaults];
  }

  /** Two processes on one file. With a small disk, the disk can fill up. */
  static async embedded({ onSmallDisk = false } = {}): Promise<Site> {
    const disk = onSmallDisk && canMount() ? new SmallDisk(262_144) : undefined;
    const full: Fault | undefined = disk && {
      name: 'full disk',
      run: async () => {
        disk.fill();
        await pause(outageMs);
        disk.makeRoom();
      },
    };
    const site = new Site(disk?.folder ?? temporaryFolder(), {}, full ? [full] : [], async () => {});
    return site.#started();
  }

  /** Two nodes over PostgreSQL with a synchronous standby, reached through a proxy. */
  static async postgres(): Promise<Site> {
    const cluster = await Cluster.start();
    const store = { SKEIN_DATABASE_URL: cluster.url };
    return new Site(temporaryFolder(), store, cluster.faults(), () => cluster.remove()).#started();
  }

  /** The same through PgBouncer; undefined if it is not installed. */
  static async pooled(): Promise<Site | undefined> {
    const program = findProgram('pgbouncer');
    if (program === undefined) return undefined;
    const cluster = await Cluster.start();
    const pooler = await PgBouncer.start(program, cluster.url, poolerSettings);
    const killed: Fault = {
      name: 'PgBouncer killed',
      run: async () => {
        await pooler.stop();
        await pause(outageMs);
        await pooler.startAgain();
      },
    };
    const store = { SKEIN_DATABASE_URL: pooler.url };
    const site = new Site(temporaryFolder(), store, [...cluster.faults(), killed], async () => {
      await pooler.stop();
      await cluster.remove();
    });
    return site.#started();
  }

  /** Two nodes over PostgreSQL servers that Patroni manages; undefined if it is not installed. */
  static async patroni(): Promise<Site | undefined> {
    const programs = findPatroni();
    if (programs === undefined) return undefined;
    const cluster = await PatroniCluster.start(programs);
    const store = { SKEIN_DATABASE_URL: cluster.url };
    return new Site(temporaryFolder(), store, cluster.faults(), () => cluster.remove()).#started();
  }

  /** The resident memory of each node. */
  memoryBytes(): number[] {
    return this.#nodes.map(({ pid }) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    });
  }

  addresses(): string[] {
    return this.#nodes.map(({ baseUrl }) => baseUrl);
  }

  skein(...words: string[]): Promise<any> {
    return operate(this.#folder, words, this.#store);
  }

  /** Resolves when every node reports that it is ready. */
  async untilReady(): Promise<void> {
    for (const node of this.#nodes)
      await eventually(() => isReady(node).catch(() => false), Boolean, readyWithinMs);
  }

  /** Stops everything. Returns what each node logged as an internal error, and unclean exits. */
  async end(): Promise<string[]> {
    const faults: string[] = [];
    for (const node of this.#nodes) {
      const exit = await node.end();
      if (exit !== 0) faults.push(`a node ended with ${exit}: ${node.output.slice(-3).join('\n')}`);
    }
    await this.#removeStore();
    return faults;
  }

  async #started(): Promise<Site> {
    this.#nodes.push(await this.#startNode());
    this.#nodes.push(await this.#startNode());
    return this;
  }

  #startNode(): Promise<Service> {
    return Service.start({ folder: this.#folder, environment: { ...environment, ...this.#store } });
  }

  #nodeFaults(): Fault[] {
    let turn = 0;
    const next = () => {
      turn += 1;
      return turn % 2;
    };
    const replaced = async (place: number, signal: NodeJS.Signals) => {
      await this.#nodes[place]!.end(signal);
      this.#nodes[place] = await this.#startNode();
    };
    const killed: Fault = { name: 'node killed', run: () => replaced(next(), 'SIGKILL') };
    const bothKilled: Fault = {
      name: 'both nodes killed at once',
      run: async () => {
        await Promise.all([replaced(0, 'SIGKILL'), replaced(1, 'SIGKILL')]);
      },
    };
    return [
      // Kills are the most frequent fault.
      killed,
      killed,
      bothKilled,
      { name: 'node restarted', run: () => replaced(next(), 'SIGTERM') },
      {
        name: 'node paused past its leases',
        run: async () => {
          const node = this.#nodes[next()]!;
          node.signal('SIGSTOP');
          await pause(2 * leaseMs);
          node.signal('SIGCONT');
        },
      },
      { name: 'clock set forward', run: async () => this.#nodes[next()]!.signal('SIGUSR2') },
    ];
  }
}

/** A PostgreSQL primary and its synchronous standby behind one address. */
class Cluster {
  #primary: PostgresServer;
  #standby: Standby;
  readonly #proxy: DatabaseProxy;

  private constructor(primary: PostgresServer, standby: Standby, proxy: DatabaseProxy) {
    this.#primary = primary;
    this.#standby = standby;
    this.#proxy = proxy;
  }

  static async start(): Promise<Cluster> {
    const primary = await startPostgres();
    return new Cluster(primary, await startStandby(primary), await DatabaseProxy.start(primary.port));
  }

  get url(): string {
    return this.#proxy.rewriteUrl(this.#primary.url);
  }

  faults(): Fault[] {
    return [
      { name: 'database restarted', run: () => this.#primary.restart('fast') },
      { name: 'database killed', losesCounts: true, run: () => this.#replace() },
      { name: 'database failed over to its standby', losesCounts: true, run: () => this.#failOver() },
      {
        name: 'network to the database silent',
        run: async () => {
          this.#proxy.fallSilent();
          await pause(outageMs);
          this.#proxy.speakAgain();
        },
      },
    ];
  }

  async remove(): Promise<void> {
    this.#proxy.stop();
    await Promise.all([this.#primary.remove(), this.#standby.server.remove()]);
  }

  async #replace(): Promise<void> {
    await this.#primary.kill();
    await pause(outageMs);
    await this.#primary.start();
  }

  /** The promoted standby gets a new standby, so that the next failover loses nothing either. */
  async #failOver(): Promise<void> {
    const old = this.#primary;
    await old.kill();
    this.#proxy.switchTo(this.#standby.server.port);
    await this.#standby.promote();
    this.#primary = this.#standby.server;
    await old.remove();
    this.#standby = await startStandby(this.#primary);
  }
}
