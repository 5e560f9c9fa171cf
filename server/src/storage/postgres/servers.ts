import pg from 'pg';
import { postgresUrls, withExplicitTlsMode } from './postgres-urls.ts';

export const connectMs = 5_000;
export const statementMs = 30_000;
export const tooManyConnections = '53300';
/** Identifies our connections in `pg_stat_activity`. */
export const applicationName = 'skein';

const readOnly = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly"`;

/** The servers that a URL names: one, or several of which one is the primary. */
export class Servers {
  readonly #urls: readonly string[];
  #finding: Promise<string> | undefined;

  constructor(url: string) {
    const read = postgresUrls(url);
    if ('fault' in read) throw new Error(`its URL ${read.fault}`);
    this.#urls = read.urls.map((one) => withExplicitTlsMode(new URL(one)).href);
  }

  /** The URL of the server that accepts writes. Several are asked each time, because a failover may have happened since. */
  async primary(): Promise<string> {
    if (this.#urls.length === 1) return this.#urls[0]!;
    this.#finding ??= findPrimary(this.#urls).finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** If the connection breaks later, the query that uses it fails. */
  async connect(config: pg.ClientConfig): Promise<pg.Client> {
    const connectionString = await this.primary();
    const client = new pg.Client({
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      ...config,
      connectionString,
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  /** For a pool whose clients look for the primary whenever they connect. */
  poolConfig(): Pick<pg.PoolConfig, 'connectionString'> & { Client?: typeof pg.Client } {
    const connectionString = this.#urls[0]!;
    return this.#urls.length === 1 ? { connectionString } : { connectionString, Client: primaryClient(this) };
  }
}

type Fault = Error & { readonly code?: string };

/** Asks all servers at once, so that a host that does not answer causes no delay. */
async function findPrimary(urls: readonly string[]): Promise<string> {
  try {
    return await Promise.any(urls.map(assertPrimary));
  } catch (error) {
    const faults: Fault[] = (error as AggregateError).errors;
    const message = `none of its hosts accepts writes: ${faults.map((fault) => fault.message).join('; ')}`;
    // A server without a free connection may be the primary.
    const isFull = faults.some(({ code }) => code === tooManyConnections);
    throw Object.assign(new Error(message), isFull && { code: tooManyConnections });
  }
}

async function assertPrimary(url: string): Promise<string> {
  const { host } = new URL(url);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs - 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query(readOnly);
    if (rows[0].readOnly) throw new Error('it is a standby, or read-only');
    return url;
  } catch (error) {
    const { message, code } = error as Fault;
    throw Object.assign(new Error(`${host}: ${message || code}`), { code });
  } finally {
    void client.end().catch(() => {});
  }
}

function primaryClient(servers: Servers): typeof pg.Client {
  class PrimaryClient extends pg.Client {
    // The form with a callback, which a pool calls.
    #connect = super.connect.bind(this) as (callback: (error: Error) => void) => void;

    override connect = ((callback: (error: Error) => void) => {
      servers.primary().then((url) => {
        const { hostname, port } = new URL(url);
        Object.assign(this, { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 5432 });
        this.#connect(callback);
      }, callback);
    }) as pg.Client['connect'];
  }
  return PrimaryClient;
}
