import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from './config.ts';
import { unknownVariables, type VariableName } from './variables.ts';

describe('readConfig', () => {
  it('has a default for every variable', () => {
    const config = readConfig({});
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.port, 8080);
    assert.ok(config.store.engine === 'sqlite');
    assert.match(config.store.file, /data\/skein\.db$/);
    assert.equal(config.limits.paginationWindow, 10_000);
    assert.equal(config.limits.dailyQuota, 10_000);
    assert.equal(config.limits.promptLengthMax, 100_000);
    assert.equal(config.limits.bodyBytesMax, 1024 * 1024);
    assert.equal(config.baseUrl, undefined);
    assert.equal(config.tls, undefined);
    assert.deepEqual(config.model, { kind: 'extractive', name: 'extractive' });
    assert.equal(config.limits.replyAttempts, 3);
  });

  it('treats an empty variable as not set', () => {
    assert.equal(readConfig({ SKEIN_PORT: '' }).port, 8080);
  });

  it('names unknown variables, and suggests the variable that was probably meant', () => {
    const environment = {
      SKEIN_PROT: '1',
      SKEIN_TITEL_LENGTH_MAX: '9',
      skein_host: 'x',
      SKEIN_PORT: '1',
      PORT: '1',
    };
    assert.deepEqual(unknownVariables(environment), [
      'ignoring unknown setting SKEIN_PROT: did you mean SKEIN_PORT?',
      'ignoring unknown setting SKEIN_TITEL_LENGTH_MAX: did you mean SKEIN_TITLE_LENGTH_MAX?',
      'ignoring unknown setting skein_host: did you mean SKEIN_HOST?',
    ]);
    assert.deepEqual(unknownVariables({ SKEIN_COLOUR_SCHEME: '' }), [
      'ignoring unknown setting SKEIN_COLOUR_SCHEME',
    ]);
  });

  it('accepts valid values', () => {
    assert.equal(readConfig({ SKEIN_PORT: '0' }).port, 0);
    const file = { engine: 'sqlite', file: '/tmp/x.db' };
    assert.deepEqual(readConfig({ SKEIN_DATABASE_URL: 'sqlite:///tmp/x.db' }).store, file);
    const url = 'postgres://skein:secret@db.example/skein';
    assert.deepEqual(readConfig({ SKEIN_DATABASE_URL: url }).store, { engine: 'postgres', url });
    assert.equal(readConfig({ SKEIN_BASE_URL: 'https://x.example/' }).baseUrl, 'https://x.example');
  });

  it('requires what the provider of a language model needs', () => {
    const local = {
      SKEIN_MODEL: 'openai-compatible/llama3.2:3b',
      SKEIN_MODEL_BASE_URL: 'http://[::1]:11434/v1/',
    };
    assert.deepEqual(readConfig(local).model, {
      kind: 'language',
      name: 'openai-compatible/llama3.2:3b',
      provider: 'openai-compatible',
      model: 'llama3.2:3b',
      baseUrl: 'http://[::1]:11434/v1',
      apiKey: undefined,
    });
    const hosted = readConfig({ SKEIN_MODEL: 'anthropic/x/y', SKEIN_MODEL_API_KEY: 'k' }).model;
    assert.ok(hosted.kind === 'language');
    assert.deepEqual([hosted.provider, hosted.model, hosted.apiKey], ['anthropic', 'x/y', 'k']);
    assert.throws(
      () => readConfig({ SKEIN_MODEL: 'openai-compatible/x' }),
      /^ConfigError: SKEIN_MODEL_BASE_URL /,
    );
    assert.throws(() => readConfig({ SKEIN_MODEL: 'anthropic/x' }), /^ConfigError: SKEIN_MODEL_API_KEY /);
    for (const apiKey of ['ключ', 'two words', 'line\nbreak']) {
      const wrong = { SKEIN_MODEL: 'anthropic/x', SKEIN_MODEL_API_KEY: apiKey };
      assert.throws(() => readConfig(wrong), /^ConfigError: SKEIN_MODEL_API_KEY /);
    }
    for (const url of ['http://ada:secret@x.example/v1', 'http://x.example/v1?key=secret']) {
      assert.throws(
        () => readConfig({ SKEIN_MODEL: 'openai-compatible/x', SKEIN_MODEL_BASE_URL: url }),
        ({ message }: Error) => message.startsWith('SKEIN_MODEL_BASE_URL ') && !message.includes('secret'),
      );
    }
  });

  it('accepts an http provider for single sign-on only on this machine', () => {
    const client = { SKEIN_OIDC_CLIENT_ID: 'skein', SKEIN_OIDC_CLIENT_SECRET: 'secret' };
    const { sso } = readConfig({ SKEIN_OIDC_ISSUER: 'https://login.example/tenant/', ...client });
    assert.deepEqual(sso, {
      issuer: 'https://login.example/tenant/',
      clientId: 'skein',
      clientSecret: 'secret',
      name: 'single sign-on',
    });
    for (const host of ['127.0.0.1:9', 'localhost:9', '[::1]:9'])
      assert.equal(
        readConfig({ SKEIN_OIDC_ISSUER: `http://${host}`, ...client }).sso?.issuer,
        `http://${host}`,
      );
    for (const host of ['login.example', '127.example', '10.0.0.1'])
      assert.throws(
        () => readConfig({ SKEIN_OIDC_ISSUER: `http://${host}`, ...client }),
        /^ConfigError: SKEIN_OIDC_ISSUER must be an https URL/,
      );
  });

  it('accepts addresses and networks as proxies, and trusts none by default', () => {
    assert.deepEqual(readConfig({}).trustedProxies, []);
    assert.deepEqual(
      readConfig({ SKEIN_TRUSTED_PROXIES: '127.0.0.1, 10.1.0.0/16,fd00::/8,' }).trustedProxies,
      ['127.0.0.1', '10.1.0.0/16', 'fd00::/8'],
    );
    for (const wrong of [
      'proxy.example',
      '10.0.0.1/33',
      '0.0.0.0/0',
      '::/0',
      '10.0.0.1/',
      '10.0.0/8',
      'loopback',
      'fe80::1%eth0',
    ])
      assert.throws(
        () => readConfig({ SKEIN_TRUSTED_PROXIES: `127.0.0.1,${wrong}` }),
        /^ConfigError: SKEIN_TRUSTED_PROXIES /,
        wrong,
      );
  });

  it('sends traces and metrics over OTLP only if a receiver is configured', () => {
    const sent = (environment: NodeJS.ProcessEnv) => {
      const { otlp } = readConfig(environment);
      return otlp && { traces: otlp.traces, metrics: otlp.metrics };
    };
    const receiver = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    assert.equal(sent({}), undefined);
    assert.equal(sent({ OTEL_SERVICE_NAME: 'skein' }), undefined);
    assert.deepEqual(sent(receiver), { traces: true, metrics: true });
    assert.deepEqual(sent({ ...receiver, OTEL_METRICS_EXPORTER: 'none' }), { traces: true, metrics: false });
    assert.deepEqual(sent({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318/v1/metrics' }), {
      traces: false,
      metrics: true,
    });
    assert.equal(sent({ ...receiver, OTEL_SDK_DISABLED: 'true' }), undefined);
  });

  it('rejects invalid values and names the variable', () => {
    const invalid: [VariableName, string][] = [
      ['SKEIN_PORT', '65536'],
      ['SKEIN_PORT', '-1'],
      ['SKEIN_PORT', '80a'],
      ['SKEIN_DATABASE_URL', 'mysql://x'],
      ['SKEIN_DATABASE_URL', 'sqlite:'],
      ['SKEIN_DATABASE_URL', 'postgres:skein'],
      ['SKEIN_DATABASE_CONNECTIONS', '0'],
      ['SKEIN_BASE_URL', 'x.example'],
      ['SKEIN_BASE_URL', 'ftp://x.example'],
      ['SKEIN_MODEL', 'gpt'],
      ['SKEIN_MODEL', 'anthropic/'],
      ['SKEIN_MODEL_SILENCE_MS', '1'],
      ['SKEIN_REPLY_ATTEMPTS', '0'],
      ['SKEIN_REPLY_LENGTH_MAX', '0'],
      ['SKEIN_PAGINATION_WINDOW', '0'],
      ['SKEIN_DAILY_QUOTA', '1.5'],
      ['SKEIN_REPLY_LEASE_MS', '1'],
      ['SKEIN_REPLY_DEADLINE_MS', '9999999999'],
      ['SKEIN_REPLY_CONCURRENCY', '0'],
      ['SKEIN_PROMPT_LENGTH_MAX', 'many'],
      ['SKEIN_TITLE_LENGTH_MAX', '0'],
      ['SKEIN_LINK_LENGTH_MAX', '0'],
      ['SKEIN_BODY_BYTES_MAX', '0'],
      ['SKEIN_DOCUMENT_BYTES_MAX', '0'],
      ['SKEIN_SESSION_IDLE_MS', '1'],
      ['SKEIN_SESSION_LIFE_MS', '1'],
      ['SKEIN_OIDC_CLIENT_ID', 'skein'],
      ['SKEIN_OIDC_ISSUER', 'https://login.example'],
      ['SKEIN_SMTP_URL', 'smtps://mail.example'],
      ['SKEIN_MAIL_FROM', 'skein@example.org'],
      ['SKEIN_LOG_LEVEL', 'loud'],
      ['SKEIN_TLS_CERT', '/does/not/exist'],
      ['SKEIN_TLS_KEY', '/does/not/exist'],
    ];
    for (const [name, value] of invalid) {
      assert.throws(() => readConfig({ [name]: value }), /^ConfigError: SKEIN_\w+ .+\.$/, `${name}=${value}`);
    }
    assert.throws(
      () => readConfig({ SKEIN_PORT: 'x' }),
      /SKEIN_PORT must be an integer from 0 to 65535, got 'x'\./,
    );
  });

  it('accepts the highest number that the error of a higher one names', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const read = (quota: number) => readConfig({ SKEIN_DAILY_QUOTA: String(quota) }).limits.dailyQuota;
    assert.equal(read(most), most);
    assert.throws(() => read(most + 1), new RegExp(`from 0 to ${most}, got '${most + 1}'`));
  });

  it('accepts a mail server with its sender, and requires TLS for another machine', () => {
    const mail = (url: string, from = 'Skein <skein@example.org>') =>
      readConfig({ SKEIN_SMTP_URL: url, SKEIN_MAIL_FROM: from }).mail;
    assert.deepEqual(mail('smtps://ada%40x:p%2Fs@mail.example'), {
      host: 'mail.example',
      port: 465,
      tls: 'implicit',
      auth: { user: 'ada@x', pass: 'p/s' },
      from: { name: 'Skein', address: 'skein@example.org' },
    });
    const tls = (url: string) => [mail(url)?.port, mail(url)?.tls];
    assert.deepEqual(tls('smtp://mail.example'), [587, 'required']);
    assert.deepEqual(tls('smtp://mail.example:25?tls=off'), [25, 'off']);
    assert.deepEqual(tls('smtp://[::1]:25'), [25, 'offered']);
    assert.equal(mail('smtp://mail.example', 'a@b')?.from.address, 'a@b');
    const wrongUrls = ['mail.example', 'http://x', 'smtp://', 'smtp://x/path', 'smtp://u:secret%@x'];
    for (const url of [...wrongUrls, 'smtps://u:secret@x?tls=off', 'smtp://x?pool=true', 'smtp://x#y']) {
      assert.throws(
        () => mail(url),
        ({ message }: Error) => message.startsWith('SKEIN_SMTP_URL ') && !message.includes('secret'),
        url,
      );
    }
    for (const from of ['Skein', 'Skein <x>', 'a@b, c@d', 'A\r\nBcc: e@f <a@b>', '"A" <a@b>', 'a@b <c@d']) {
      assert.throws(
        () => mail('smtp://x', from),
        /^ConfigError: SKEIN_MAIL_FROM must be an email address/,
        from,
      );
    }
  });

  it('rejects a relative path of the store in a folder that was removed, and accepts an absolute one', (test) => {
    const folder = process.cwd();
    test.after(() => process.chdir(folder));
    const removed = mkdtempSync(join(tmpdir(), 'skein-config-'));
    process.chdir(removed);
    rmSync(removed, { recursive: true });
    for (const url of [{}, { SKEIN_DATABASE_URL: 'postgres://h/db?sslrootcert=ca.pem' }])
      assert.throws(
        () => readConfig(url),
        /^ConfigError: SKEIN_DATABASE_URL is a relative path, .+ absolute path\.$/,
      );
    const { store } = readConfig({ SKEIN_DATABASE_URL: 'sqlite:/srv/skein.db' });
    assert.deepEqual(store, { engine: 'sqlite', file: '/srv/skein.db' });
  });

  it('does not repeat a database URL, which may contain a password', () => {
    assert.throws(
      () => readConfig({ SKEIN_DATABASE_URL: 'mysql://u:secret@h/d' }),
      (error: Error) => !error.message.includes('secret'),
    );
  });
});
