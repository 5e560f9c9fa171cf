import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { serveAndFail } from '../../harness/service/failing-start.ts';
import { root, type Service, temporaryFolder } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';

type Environment = Record<string, string>;

const certificate = join(root, 'tests/stand-ins/localhost-certificate.pem');
const key = join(root, 'tests/stand-ins/localhost-key.pem');

const client = { SKEIN_OIDC_CLIENT_ID: 'skein', SKEIN_OIDC_CLIENT_SECRET: 'hunter2' };

/** Invalid values of each variable. Files are named from the folder that `before` prepares. */
const invalid: Record<string, Environment[]> = {
  SKEIN_HOST: ['203.0.113.1', 'fe80::1'].map((value) => ({ SKEIN_HOST: value })),
  SKEIN_PORT: ['http', '-1', '65536', '80.5'].map((value) => ({ SKEIN_PORT: value })),
  SKEIN_METRICS_PORT: ['off', '-1', '65536', '0x50'].map((value) => ({ SKEIN_METRICS_PORT: value })),
  SKEIN_DATABASE_URL: [
    'mysql://ada:hunter2@db',
    'sqlite:',
    './junk.db',
    'sqlite:./junk',
    'sqlite:./folder',
    'sqlite:./junk/skein.db',
  ].map((value) => ({ SKEIN_DATABASE_URL: value })),
  SKEIN_DATABASE_CONNECTIONS: [{ SKEIN_DATABASE_CONNECTIONS: '0' }],
  SKEIN_CACHE_BYTES: [{ SKEIN_CACHE_BYTES: '-1' }, { SKEIN_CACHE_BYTES: '64 MB' }],
  SKEIN_AUTH_URL: [{ SKEIN_AUTH_URL: 'auth.example' }, { SKEIN_AUTH_URL: 'https://auth.example/:a/*' }],
  SKEIN_BASE_URL: [
    'skein',
    'ftp://skein.example',
    'https://skein.example/?a=b',
    'https://skein.example/skein',
  ].map((value) => ({
    SKEIN_BASE_URL: value,
  })),
  SKEIN_MODEL: [{ SKEIN_MODEL: 'oracle' }, { SKEIN_MODEL: 'anthropic/' }],
  SKEIN_MODEL_BASE_URL: [
    { SKEIN_MODEL: 'openai-compatible/x' },
    { SKEIN_MODEL: 'openai-compatible/x', SKEIN_MODEL_BASE_URL: 'localhost:11434' },
  ],
  SKEIN_MODEL_API_KEY: [{ SKEIN_MODEL: 'anthropic/x' }],
  SKEIN_MODEL_SILENCE_MS: [{ SKEIN_MODEL_SILENCE_MS: '1m' }],
  SKEIN_PAGINATION_WINDOW: [{ SKEIN_PAGINATION_WINDOW: '0' }],
  SKEIN_DAILY_QUOTA: [{ SKEIN_DAILY_QUOTA: 'unlimited' }],
  SKEIN_REPLY_LEASE_MS: [{ SKEIN_REPLY_LEASE_MS: '15s' }],
  SKEIN_REPLY_DEADLINE_MS: [{ SKEIN_REPLY_DEADLINE_MS: '1e6' }],
  SKEIN_REPLY_CONCURRENCY: [{ SKEIN_REPLY_CONCURRENCY: '0' }],
  SKEIN_REPLY_ATTEMPTS: [{ SKEIN_REPLY_ATTEMPTS: '0' }],
  SKEIN_DRAIN_MS: [{ SKEIN_DRAIN_MS: '600001' }],
  SKEIN_DOCUMENT_LENGTH_MAX: [{ SKEIN_DOCUMENT_LENGTH_MAX: 'none' }],
  SKEIN_DOCUMENT_PASSAGES_MAX: [{ SKEIN_DOCUMENT_PASSAGES_MAX: 'none' }],
  SKEIN_DOCUMENT_READERS: [{ SKEIN_DOCUMENT_READERS: 'none' }],
  SKEIN_DOCUMENT_READ_MB: [{ SKEIN_DOCUMENT_READ_MB: 'none' }],
  SKEIN_DOCUMENT_READ_MS: [{ SKEIN_DOCUMENT_READ_MS: 'none' }],
  SKEIN_ORGANIZATION_BYTES_MAX: [{ SKEIN_ORGANIZATION_BYTES_MAX: 'none' }],
  SKEIN_CONSOLE_CHANGES_PER_MINUTE: [{ SKEIN_CONSOLE_CHANGES_PER_MINUTE: '0' }],
  SKEIN_ORGANIZATION_MEMBERS_MAX: [{ SKEIN_ORGANIZATION_MEMBERS_MAX: '0' }],
  SKEIN_ORGANIZATION_DOCUMENTS_MAX: [{ SKEIN_ORGANIZATION_DOCUMENTS_MAX: 'none' }],
  SKEIN_STREAMS_PER_PERSON_MAX: [{ SKEIN_STREAMS_PER_PERSON_MAX: '0' }],
  SKEIN_STREAM_WRITE_TIMEOUT_MS: [{ SKEIN_STREAM_WRITE_TIMEOUT_MS: '99' }],
  SKEIN_UPLOADS_MAX: [{ SKEIN_UPLOADS_MAX: 'none' }],
  SKEIN_REPLY_THREADS: [{ SKEIN_REPLY_THREADS: '0' }, { SKEIN_REPLY_THREADS: '65' }],
  SKEIN_CONSOLE_PROMPTS_PER_MINUTE: [{ SKEIN_CONSOLE_PROMPTS_PER_MINUTE: '0' }],
  SKEIN_CONSOLE_PROMPTS_PER_DAY: [{ SKEIN_CONSOLE_PROMPTS_PER_DAY: 'many' }],
  SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_MINUTE: [{ SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_MINUTE: '-1' }],
  SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_DAY: [{ SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_DAY: '1.5' }],
  SKEIN_REPLY_LENGTH_MAX: [{ SKEIN_REPLY_LENGTH_MAX: '0' }],
  SKEIN_PROMPT_LENGTH_MAX: [{ SKEIN_PROMPT_LENGTH_MAX: '0' }],
  SKEIN_TITLE_LENGTH_MAX: [{ SKEIN_TITLE_LENGTH_MAX: '-5' }],
  SKEIN_THREAD_MESSAGES_MAX: [{ SKEIN_THREAD_MESSAGES_MAX: '1' }],
  SKEIN_THREAD_BYTES_MAX: [{ SKEIN_THREAD_BYTES_MAX: '10MB' }],
  SKEIN_LINK_LENGTH_MAX: [{ SKEIN_LINK_LENGTH_MAX: 'NaN' }],
  SKEIN_BODY_BYTES_MAX: [{ SKEIN_BODY_BYTES_MAX: '1MiB' }],
  SKEIN_DOCUMENT_BYTES_MAX: [{ SKEIN_DOCUMENT_BYTES_MAX: '50MB' }],
  SKEIN_REQUEST_TIMEOUT_MS: [{ SKEIN_REQUEST_TIMEOUT_MS: '0' }],
  SKEIN_TRUSTED_PROXIES: ['proxy.example', '0.0.0.0/0'].map((value) => ({ SKEIN_TRUSTED_PROXIES: value })),
  SKEIN_SESSION_IDLE_MS: [{ SKEIN_SESSION_IDLE_MS: '7d' }],
  SKEIN_SESSION_LIFE_MS: [{ SKEIN_SESSION_LIFE_MS: '0' }],
  SKEIN_SMTP_URL: [
    { SKEIN_MAIL_FROM: 'skein@example.org' },
    { SKEIN_SMTP_URL: 'mail.example:25', SKEIN_MAIL_FROM: 'skein@example.org' },
    { SKEIN_SMTP_URL: 'smtp://ada:hunter2@mail.example?pool=true', SKEIN_MAIL_FROM: 'skein@example.org' },
  ],
  SKEIN_MAIL_FROM: [
    { SKEIN_SMTP_URL: 'smtps://ada:hunter2@mail.example' },
    { SKEIN_SMTP_URL: 'smtps://mail.example', SKEIN_MAIL_FROM: 'Skein' },
  ],
  SKEIN_MAILS_PER_DAY: [{ SKEIN_MAILS_PER_DAY: '0' }],
  SKEIN_OIDC_ISSUER: [
    { SKEIN_OIDC_ISSUER: 'login.example', ...client },
    { SKEIN_OIDC_ISSUER: 'https://ada:hunter2@login.example', ...client },
    { SKEIN_OIDC_ISSUER: 'http://login.example', ...client },
    client,
  ],
  SKEIN_OIDC_CLIENT_ID: [{ SKEIN_OIDC_ISSUER: 'https://login.example', SKEIN_OIDC_CLIENT_SECRET: 'x' }],
  SKEIN_OIDC_CLIENT_SECRET: [{ SKEIN_OIDC_ISSUER: 'https://login.example', SKEIN_OIDC_CLIENT_ID: 'skein' }],
  SKEIN_OIDC_NAME: [{ SKEIN_OIDC_NAME: 'x'.repeat(61) }, { SKEIN_OIDC_NAME: 'two\nlines' }],
  SKEIN_RETENTION_DELETED_THREADS_DAYS: [{ SKEIN_RETENTION_DELETED_THREADS_DAYS: '0' }],
  SKEIN_RETENTION_AUDIT_DAYS: [{ SKEIN_RETENTION_AUDIT_DAYS: '30d' }],
  SKEIN_RETENTION_USAGE_DAYS: [{ SKEIN_RETENTION_USAGE_DAYS: '1.5' }],
  SKEIN_RETENTION_REQUESTS_DAYS: [{ SKEIN_RETENTION_REQUESTS_DAYS: '0' }],
  SKEIN_REQUEST_LOG_MAX: [{ SKEIN_REQUEST_LOG_MAX: '-1' }],
  SKEIN_RETENTION_IDEMPOTENCY_DAYS: [{ SKEIN_RETENTION_IDEMPOTENCY_DAYS: '-1' }],
  SKEIN_RETENTION_SESSIONS_DAYS: [{ SKEIN_RETENTION_SESSIONS_DAYS: 'never' }],
  SKEIN_LOG_LEVEL: [{ SKEIN_LOG_LEVEL: 'loud' }],
  SKEIN_TLS_CERT: [
    { SKEIN_TLS_KEY: key },
    { SKEIN_TLS_CERT: './missing.pem', SKEIN_TLS_KEY: key },
    { SKEIN_TLS_CERT: './junk', SKEIN_TLS_KEY: key },
  ],
  SKEIN_TLS_KEY: [
    { SKEIN_TLS_CERT: certificate },
    { SKEIN_TLS_CERT: certificate, SKEIN_TLS_KEY: './missing.pem' },
    { SKEIN_TLS_CERT: certificate, SKEIN_TLS_KEY: './junk' },
    { SKEIN_TLS_CERT: certificate, SKEIN_TLS_KEY: './other-key.pem' },
  ],
};

/** Variables that only remote commands read. */
const variablesOfCallers = ['SKEIN_API_KEY', 'SKEIN_CLIENT_ID', 'SKEIN_CLIENT_SECRET'];

describe('An invalid environment', { concurrency: 4 }, () => {
  const folder = temporaryFolder();
  /** By environment, the message of a fault that is found before anything is opened. */
  const faults = new Map<Environment, string>();
  let running: Service;
  before(async () => {
    writeFileSync(join(folder, 'junk'), 'This is neither a store nor a key.\n'.repeat(200));
    mkdirSync(join(folder, 'folder'));
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    writeFileSync(join(folder, 'other-key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    findFaults();
    running = await sharedService();
  });

  function findFaults(): void {
    const environments = Object.values(invalid).flat();
    const program = join(root, 'server/testing/read-configurations.ts');
    const printed = execFileSync(process.execPath, [program], {
      cwd: folder,
      input: JSON.stringify(environments),
      encoding: 'utf8',
    });
    (JSON.parse(printed) as (string | null)[]).forEach((fault, index) => {
      if (fault !== null) faults.set(environments[index]!, fault);
    });
  }

  /** Exit 1, nothing on standard output, and one line on standard error that names the variable. */
  async function assertServeFails(name: string, environment: Environment): Promise<void> {
    const { exitCode, stdout, stderr } = await serveAndFail(folder, environment);
    assert.deepEqual([exitCode, stdout], [1, ''], `${JSON.stringify(environment)}: ${stderr}`);
    assert.match(stderr, /^skein: [^\n]*\.\n$/);
    assertNames(name, environment, stderr.slice('skein: '.length, -1));
  }

  function assertNames(name: string, environment: Environment, message: string): void {
    const shown = `${JSON.stringify(environment)}: ${message}`;
    assert.match(message, new RegExp(`^[^\\n]*\\b${name}\\b[^\\n]*\\.$`), shown);
    assert.ok(!message.includes('hunter2'), 'a password in an address is not repeated');
  }

  it('is tested for every variable that the operator can set', () => {
    const table = readFileSync(join(root, 'docs/settings.md'), 'utf8');
    const documented = [...table.matchAll(/^\| `(SKEIN_\w+)`/gm)].map(([, name]) => name);
    assert.ok(documented.length > 10);
    assert.deepEqual([...Object.keys(invalid), ...variablesOfCallers].sort(), documented.sort());
  });

  for (const [name, environments] of Object.entries(invalid)) {
    it(`is rejected with a message that names ${name}`, async () => {
      for (const environment of environments) {
        const fault = faults.get(environment);
        if (fault === undefined) await assertServeFails(name, environment);
        else assertNames(name, environment, fault);
      }
    });
  }

  it('keeps the service from starting, with one line on standard error', async () => {
    const environment = invalid.SKEIN_PORT![0]!;
    assert.ok(faults.has(environment));
    await assertServeFails('SKEIN_PORT', environment);
  });

  it('includes a port that is in use', async () => {
    await assertServeFails('SKEIN_PORT', { SKEIN_PORT: new URL(running.baseUrl).port });
  });
});
