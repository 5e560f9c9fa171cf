import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../harness/service/eventually.ts';
import { findProgram, freePort } from '../../harness/service/machine.ts';
import { temporaryFolder } from '../../harness/service/service.ts';
import type { Fault } from './history.ts';

const password = 'only-for-tests';
const etcdOutageMs = 3000;
const settledForMs = 2000;
const settledWithinMs = 120_000;

/** Debian's programs for a PostgreSQL cluster that fails over by itself; undefined if they are not installed. */
export function findPatroni(): { patroni: string; etcd: string; bin: string } | undefined {
  const [patroni, etcd] = [findProgram('patroni'), findProgram('etcd')];
  const root = '/usr/lib/postgresql';
  const version = existsSync(root) ? readdirSync(root).at(-1) : undefined;
  return patroni && etcd && version ? { patroni, etcd, bin: join(root, version, 'bin') } : undefined;
}

/** Two PostgreSQL servers that Patroni manages. etcd holds the leader's lease. */
export class PatroniCluster {
  readonly #members: readonly [Member, Member];
  readonly #startEtcd: () => ChildProcess;
  #etcd: ChildProcess;

  private constructor(members: readonly [Member, Member], startEtcd: () => ChildProcess) {
    this.#members = members;
    this.#startEtcd = startEtcd;
    this.#etcd = startEtcd();
  }

  static async start({
    patroni,
    etcd,
    bin,
  }: NonNullable<ReturnType<typeof findPatroni>>): Promise<PatroniCluster> {
    const folder = temporaryFolder();
    const [client, peer] = [await freePort(), await freePort()];
    const peerUrl = `http://127.0.0.1:${peer}`;
    const startEtcd = () =>
      start(etcd, folder, [
        `--data-dir=${join(folder, 'etcd')}`,
        `--listen-client-urls=http://127.0.0.1:${client}`,
        `--advertise-client-urls=http://127.0.0.1:${client}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=default=${peerUrl}`,
      ]);
    const member = async (name: string) =>
      new Member(name, folder, patroni, bin, `127.0.0.1:${client}`, await freePort(), await freePort());
    const members = [await member('one'), await member('two')] as const;
    const cluster = new PatroniCluster(members, startEtcd);
    for (const one of members) one.start();
    await cluster.#settled();
    return cluster;
  }

  get url(): string {
    const hosts = this.#members.map(({ port }) => `127.0.0.1:${port}`).join();
    return `postgres://postgres:${password}@${hosts}/postgres?target_session_attrs=read-write`;
  }

  faults(): Fault[] {
    return [
      { name: 'Patroni leader killed', losesCounts: true, run: () => this.#killLeader() },
      { name: 'Patroni switchover', run: () => this.#switchOver() },
      // Without etcd, the leader stops its server without a sync.
      { name: 'etcd killed', losesCounts: true, run: () => this.#restartEtcd() },
    ];
  }

  async remove(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.kill()));
    await end(this.#etcd);
  }

  async #killLeader(): Promise<void> {
    const leader = await this.#leader();
    await leader.kill();
    const other = this.#members.find((member) => member !== leader)!;
    await eventually(() => other.isLeader(), Boolean, settledWithinMs);
    leader.start();
    await this.#settled();
  }

  async #switchOver(): Promise<void> {
    const leader = await this.#leader();
    const candidate = this.#members.find((member) => member !== leader)!;
    await leader.call('/switchover', { leader: leader.name, candidate: candidate.name });
    await eventually(() => candidate.isLeader(), Boolean, settledWithinMs);
    await this.#settled();
  }

  async #restartEtcd(): Promise<void> {
    await end(this.#etcd);
    await pause(etcdOutageMs);
    this.#etcd = this.#startEtcd();
    await this.#settled();
  }

  async #leader(): Promise<Member> {
    await this.#settled();
    for (const member of this.#members) if (await member.isLeader()) return member;
    throw new Error('Patroni reports no leader.');
  }

  /**
   * One member leads and the other is its synchronous standby, so that a failover loses nothing. Patroni may restart a
   * server once more after it has changed roles, so this has to hold for a while.
   */
  async #settled(): Promise<void> {
    let since: number | undefined;
    const hasSettled = async () => {
      const leaders = await Promise.all(this.#members.map((member) => member.isLeader()));
      const standbys = await Promise.all(this.#members.map((member) => member.isSynchronous()));
      since = leaders.includes(true) && standbys.includes(true) ? (since ?? Date.now()) : undefined;
      return since !== undefined && Date.now() - since >= settledForMs;
    };
    await eventually(hasSettled, Boolean, settledWithinMs);
  }
}

/** One Patroni process and the PostgreSQL server that it starts. */
class Member {
  readonly name: string;
  readonly port: number;
  readonly #restPort: number;
  readonly #patroni: string;
  readonly #folder: string;
  readonly #dataFolder: string;
  readonly #configuration: string;
  #process: ChildProcess | undefined;

  constructor(
    name: string,
    folder: string,
    patroni: string,
    bin: string,
    etcd: string,
    port: number,
    restPort: number,
  ) {
    this.name = name;
    this.port = port;
    this.#restPort = restPort;
    this.#patroni = patroni;
    this.#folder = join(folder, name);
    this.#dataFolder = join(this.#folder, 'data');
    this.#configuration = join(this.#folder, 'patroni.json');
    mkdirSync(this.#folder);
    const rest = `127.0.0.1:${restPort}`;
    const configuration = {
      scope: 'skein',
      name,
      restapi: { listen: rest, connect_address: rest },
      etcd3: { host: etcd },
      bootstrap: {
        dcs: {
          ttl: 20,
          loop_wait: 1,
          retry_timeout: 3,
          synchronous_mode: true,
          postgresql: { use_pg_rewind: true },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
        pg_hba: [
          'host replication replicator 127.0.0.1/32 scram-sha-256',
          'host all all 127.0.0.1/32 scram-sha-256',
        ],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: this.#dataFolder,
        bin_dir: bin,
        pgpass: join(this.#folder, 'pgpass'),
        authentication: {
          superuser: { username: 'postgres', password },
          replication: { username: 'replicator', password },
        },
        parameters: { unix_socket_directories: '', max_connections: 100, fsync: 'off' },
      },
    };
    // JSON is valid YAML.
    writeFileSync(this.#configuration, JSON.stringify(configuration));
    const { uid, gid } = runner();
    if (uid !== undefined) chownSync(this.#folder, uid, gid!);
  }

  start(): void {
    this.#process = start(this.#patroni, this.#folder, [this.#configuration]);
  }

  /** Kills Patroni first, so that it cannot start the server again. */
  async kill(): Promise<void> {
    if (this.#process !== undefined) await end(this.#process);
    try {
      const [pid] = readFileSync(join(this.#dataFolder, 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The server does not run.
    }
  }

  isLeader(): Promise<boolean> {
    return this.#answersOk('/primary');
  }

  isSynchronous(): Promise<boolean> {
    return this.#answersOk('/synchronous');
  }

  async call(path: string, body: object): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.#restPort}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Patroni answered ${response.status}: ${await response.text()}`);
  }

  async #answersOk(path: string): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${this.#restPort}${path}`).catch(() => undefined);
    return response?.ok ?? false;
  }
}

/** PostgreSQL refuses to run as root. Debian's package brings a user for it. */
function runner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((user) => user.startsWith('postgres:'));
  const [, , uid, gid] = line!.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function start(program: string, folder: string, words: readonly string[]): ChildProcess {
  const { uid, gid } = runner();
  if (uid !== undefined) chownSync(folder, uid, gid!);
  const child = spawn(program, words, {
    cwd: folder,
    // etcd wants to be asked before it runs on arm64.
    env: { PATH: process.env.PATH, LC_ALL: 'C', ETCD_UNSUPPORTED_ARCH: process.arch },
    stdio: 'ignore',
    ...(uid !== undefined && { uid, gid }),
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
