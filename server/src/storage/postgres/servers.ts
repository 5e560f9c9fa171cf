import pg from 'pg';
import { postgresUrls } from '../postgres-urls.ts';
import { withPlainTlsMode } from './tls.ts';

export const connectMs = 5_000;

const readOnly = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly"`;

/** The servers that a URL names: one, or several of which one takes writes. */
export class Servers {
  readonly #urls: readonly string[];
  #finding: Promise<string> | undefined;

  constructor(url: string) {
    const read = postgresUrls(url);
    if ('fault' in read) throw new Error(`its URL ${read.fault}`);
    this.#urls = read.urls.map((one) => withPlainTlsMode(new URL(one)).href);
  }

  /**
   * The URL of the server to connect to. A single one is not looked at. Of several it is the one that takes writes now;
   * they are asked each time, because a failover may have come in between.
   */
  async primary(): Promise<string> {
    if (this.#urls.length === 1) return this.#urls[0]!;
    this.#finding ??= findPrimary(this.#urls).finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** A connected client. What breaks it later is told by the query that it breaks. */
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

  /** What a pool needs: its clients look for the primary whenever they connect. */
  poolConfig(): Pick<pg.PoolConfig, 'connectionString'> & { Client?: typeof pg.Client } {
    const connectionString = this.#urls[0]!;
    return this.#urls.length === 1 ? { connectionString } : { connectionString, Client: primaryClient(this) };
  }
}

/** All are asked at once: a host that is gone without a word delays nobody. */
async function findPrimary(urls: readonly string[]): Promise<string> {
  try {
    return await Promise.any(urls.map(takesWrites));
  } catch (error) {
    const faults = (error as AggregateError).errors.map((fault: Error) => fault.message || String(fault));
    throw new Error(`none of its hosts takes writes: ${faults.join('; ')}`);
  }
}

async function takesWrites(url: string): Promise<string> {
  const { host } = new URL(url);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs - 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query(readOnly);
    if (rows[0].readOnly) throw new Error('it is a standby, or read-only');
    return url;
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    throw new Error(`${host}: ${message || code}`);
  } finally {
    void client.end().catch(() => {});
  }
}

function primaryClient(servers: Servers): typeof pg.Client {
  class PrimaryClient extends pg.Client {
    // As a pool calls it.
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
