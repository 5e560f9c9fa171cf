import assert from 'node:assert/strict';
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../harness/postgres/server.ts';
import { type CommandOutcome, root, runSkein, temporaryFolder } from '../../harness/service/service.ts';

/** Self-signed, for localhost and 127.0.0.1. */
const certificate = join(root, 'tests/stand-ins/localhost-certificate.pem');
const key = join(root, 'tests/stand-ins/localhost-key.pem');

describe('TLS to PostgreSQL', () => {
  let server: PostgresServer;
  const folder = temporaryFolder();
  before(async () => {
    server = await startPostgres({ settings: { listen_addresses: '127.0.0.1,127.0.0.2' } });
    const { uid, gid } = statSync(server.dataFolder);
    for (const [name, file] of [
      ['server.crt', certificate],
      ['server.key', key],
    ] as const) {
      copyFileSync(file, join(server.dataFolder, name));
      chmodSync(join(server.dataFolder, name), 0o600);
      chownSync(join(server.dataFolder, name), uid, gid);
    }
    const { exitCode, stderr } = await runSkein(folder, ['org', 'create', 'Acme'], {
      SKEIN_DATABASE_URL: server.url,
    });
    assert.equal(exitCode, 0, stderr);
    await asAdmin('ALTER SYSTEM SET ssl = on');
    await server.restart();
  });
  after(() => server?.remove());

  async function asAdmin(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  function connect(host: string, query: string): Promise<CommandOutcome> {
    const url = new URL(server.url);
    url.hostname = host;
    return runSkein(folder, ['org', 'list', '--json'], { SKEIN_DATABASE_URL: `${url.href}?${query}` });
  }

  async function accepts(host: string, query: string): Promise<void> {
    const { exitCode, stderr } = await connect(host, query);
    assert.deepEqual([exitCode, stderr], [0, ''], `${host} ${query}`);
  }

  async function refuses(host: string, query: string, reason: RegExp): Promise<void> {
    const { exitCode, stderr } = await connect(host, query);
    assert.equal(exitCode, 1, `${host} ${query}`);
    assert.match(stderr, reason);
    assert.equal(stderr.split('\n').length, 2, stderr);
  }

  it('checks the certificate and its name in every mode but two', async () => {
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      await refuses('localhost', `sslmode=${mode}`, /self-signed certificate/);
    }
    await accepts('localhost', `sslmode=verify-full&sslrootcert=${certificate}`);
    await refuses('127.0.0.2', `sslmode=verify-ca&sslrootcert=${certificate}`, /IP|altnames/);
  });

  it('checks nothing with no-verify, and encrypts nothing with disable', async () => {
    await accepts('localhost', 'sslmode=no-verify');
    await accepts('localhost', 'sslmode=disable');
    await accepts('localhost', '');
  });

  it('does not fall back to an unencrypted connection where the server has no TLS', async () => {
    await asAdmin('ALTER SYSTEM SET ssl = off');
    await server.restart();
    for (const mode of ['prefer', 'verify-full'])
      await refuses('localhost', `sslmode=${mode}`, /does not support SSL/);
  });
});
