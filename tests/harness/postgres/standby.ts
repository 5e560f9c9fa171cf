import { chown, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { findInstallation } from './installation.ts';
import { type PostgresServer, type Settings, startPostgres } from './server.ts';

export interface Standby {
  readonly server: PostgresServer;
  /** Resolves when the standby accepts writes. */
  promote(): Promise<void>;
}

const standbyName = 'standby';
const streamingWithinMs = 30_000;

/** Not part of a base backup, or recreated at the first start. */
const notCopied = new Set(['postmaster.pid', 'postmaster.opts', 'postgresql.auto.conf']);
const copiedEmpty = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_stat_tmp',
  'pg_subtrans',
]);

/**
 * Starts the only synchronous standby of a running primary. From then on, the primary confirms a commit only when the
 * standby has it, too. While the standby is stopped, commits wait.
 */
export async function startStandby(primary: PostgresServer, settings: Settings = {}): Promise<Standby> {
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    // Keeps all write-ahead log from here on, so that the copy does not need to contain any.
    await client.query('SELECT pg_create_physical_replication_slot($1, true)', [standbyName]);
    const server = await startPostgres({
      settings: { ...settings, ...followSettings(primary) },
      password: primary.password,
      fill: (dataFolder) => copyCluster(client, primary.dataFolder, dataFolder),
    });
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${standbyName}'`);
    await client.query('ALTER SYSTEM SET synchronous_commit = on');
    await client.query('SELECT pg_reload_conf()');
    await synchronous(client);
    return { server, promote: () => promote(server) };
  } finally {
    await client.end();
  }
}

function followSettings({ port, password }: PostgresServer): Settings {
  return {
    hot_standby: 'on',
    primary_conninfo: `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=${standbyName}`,
    primary_slot_name: standbyName,
    // By default, a failed connection is retried only after five seconds.
    wal_retrieve_retry_interval: '100ms',
  };
}

/**
 * Copies the cluster while the primary runs. `pg_basebackup` is not packaged; this uses the low-level API for the same
 * result.
 */
async function copyCluster(client: pg.Client, from: string, to: string): Promise<void> {
  await client.query("SELECT pg_backup_start('standby', fast => true)");
  await copyFolder(from, to);
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)');
  await writeOwned(join(to, 'backup_label'), rows[0].labelfile);
  await writeOwned(join(to, 'standby.signal'), '');
}

async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  await own(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (notCopied.has(entry.name)) continue;
    if (!entry.isDirectory()) await copyPresent(source, target);
    else if (!copiedEmpty.has(entry.name)) await copyFolder(source, target);
    else await mkdir(target, { mode: 0o700 }).then(() => own(target));
  }
}

/** If a file is removed during the copy, the write-ahead log removes it from the copy as well. */
async function copyPresent(source: string, target: string): Promise<void> {
  try {
    await copyFile(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await own(target);
}

async function writeOwned(path: string, content: string): Promise<void> {
  await writeFile(path, content, { mode: 0o600 });
  await own(path);
}

async function own(path: string): Promise<void> {
  const { runner } = findInstallation();
  if (runner.uid !== undefined) await chown(path, runner.uid, runner.gid);
}

async function synchronous(client: pg.Client): Promise<void> {
  const deadline = Date.now() + streamingWithinMs;
  for (;;) {
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'",
    );
    if (rows.length === 1) return;
    if (Date.now() > deadline) throw new Error('The standby does not follow its primary.');
    await after(10);
  }
}

async function promote(server: PostgresServer): Promise<void> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT pg_promote(wait => true, wait_seconds => 30) AS promoted');
    if (rows[0].promoted !== true) throw new Error('The standby was not promoted in time.');
  } finally {
    await client.end();
  }
}
