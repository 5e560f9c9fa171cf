import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { exempt, pages, toRun } from '../../../harness/documents/samples.ts';
import { Api } from '../../../harness/http/api.ts';
import { dropDatabase, testDatabase } from '../../../harness/postgres/databases.ts';
import { type ModelServer, startModelServer } from '../../../harness/service/model-server.ts';
import { root, runCommand, Service, temporaryFolder } from '../../../harness/service/service.ts';
import { startWithoutDemo } from '../../../harness/service/shared-service.ts';
import { hire } from '../../../harness/world/tenants.ts';

type Environment = Record<string, string>;

const settings = toRun('env').flatMap(({ page, samples }) =>
  samples.map(({ text }) => ({ page, environment: environmentIn(text) })),
);
const ofModels = settings.filter(({ environment }) => environment.SKEIN_MODEL !== undefined);
const others = settings.filter(({ environment }) => environment.SKEIN_MODEL === undefined);
const postgres = 'postgres://skein:PASSWORD@db.internal/skein';

describe('The settings in the documentation', () => {
  it('exist', () => {
    assert.ok(ofModels.length >= 4 && others.length >= 3);
  });

  for (const { page, environment } of others) {
    it(`of ${page}, ${Object.keys(environment)}, are valid: the service starts with them`, async (t) => {
      const database = await testDatabase();
      t.after(() => dropDatabase(database));
      const filledIn = withLocalNames(environment, database);
      const folder = temporaryFolder();
      const service = await Service.start({ folder, environment: filledIn });
      const { exitCode, stdout } = await runCommand(folder, ['doctor'], filledIn);
      assert.equal(exitCode, 0, stdout);
      assert.equal(service.baseUrl, environment.SKEIN_BASE_URL);
      assert.equal(await service.end(), 0);
    });
  }

  for (const { page, environment } of ofModels) {
    const { SKEIN_MODEL: model = '' } = environment;
    it(`of ${page} let ${model} write replies through a provider that speaks its protocol`, async (t) => {
      const provider = await startModelServer();
      t.after(() => provider.close());
      const filledIn = { ...environment, SKEIN_MODEL_BASE_URL: provider.url };
      const service = await startWithoutDemo(filledIn);
      t.after(() => service.end());
      const { key } = await hire(service, 'First', 'ada@first.example');
      const api = new Api(service.baseUrl, key);
      const { body } = await api.create({ prompt: 'What is a skein?' });
      const { messages } = await api.untilDone(body.thread.id);
      assert.deepEqual([messages[1].status, messages[1].model], ['completed', model]);
      await assertAsked(provider, environment);
    });
  }

  it('use the real URL of their provider, with its version', () => {
    const urls = ofModels.map(({ environment }) => environment.SKEIN_MODEL_BASE_URL);
    for (const url of urls) assert.match(url ?? 'http://anthropic.example/v1', /^https?:.*\/v1$/);
    assert.ok(urls.includes('https://api.openai.com/v1'));
  });

  it('split the roles with commands that start both processes on one database', async (t) => {
    const [commands] = exempt.filter(({ text }) => text.includes('serve --role'));
    const words =
      commands?.text.split('\n').map((line) => line.replace('npx skein serve ', '').split(' ')) ?? [];
    assert.equal(words.length, 2);
    const database = await testDatabase();
    t.after(() => dropDatabase(database));
    for (const role of words) {
      const service = await Service.start({ environment: { SKEIN_DATABASE_URL: database }, words: role });
      assert.equal(await service.end(), 0);
    }
  });
});

describe('JSON in the documentation', () => {
  const blocks = pages.flatMap(({ page, samples }) =>
    samples.filter(({ language }) => language === 'json').map(({ text }) => ({ page, text })),
  );

  it('is valid', () => {
    assert.ok(blocks.length >= 7);
    for (const { page, text } of blocks) assert.doesNotThrow(() => JSON.parse(text), page);
  });
});

describe('Every block of the documentation', () => {
  it('is of a kind that is executed or checked', () => {
    // errors-document.test.ts sends the requests in `http`; `yaml` is Prometheus's own, and `text` is to be read.
    // rolling-restarts.test.ts runs `haproxy` and `nginx`.
    const known = ['sh', 'ts', 'env', 'json', 'text', 'http', 'yaml', 'haproxy', 'nginx'];
    for (const { page, samples } of pages)
      for (const { language } of samples) assert.ok(known.includes(language), `${page}: ${language}`);
    assert.deepEqual(
      pages
        .filter(({ samples }) => samples.some(({ language }) => ['http', 'yaml'].includes(language)))
        .map(({ page }) => page),
      ['docs/errors.md', 'docs/monitoring.md'],
    );
  });
});

function environmentIn(text: string): Environment {
  const lines = text.trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^(SKEIN_[A-Z_]+)=(\S+)$/.exec(line) ?? [];
      assert.ok(name !== undefined && value !== undefined, `no setting: ${line}`);
      return [name, value.replace('…', 'ellipsis')];
    }),
  );
}

/** Replaces the names of other machines and their files by local ones. */
function withLocalNames(environment: Environment, database: string): Environment {
  const here: Environment = { ...environment, SKEIN_HOST: '127.0.0.1', SKEIN_PORT: '0' };
  if (here.SKEIN_DATABASE_URL === postgres) here.SKEIN_DATABASE_URL = database;
  if (here.SKEIN_TLS_CERT !== undefined) {
    here.SKEIN_TLS_CERT = join(root, 'tests/stand-ins/localhost-certificate.pem');
    here.SKEIN_TLS_KEY = join(root, 'tests/stand-ins/localhost-key.pem');
  }
  return here;
}

async function assertAsked(provider: ModelServer, environment: Environment): Promise<void> {
  const [request] = await provider.requests();
  assert.equal(request?.body.model, environment.SKEIN_MODEL?.replace(/^[^/]+\//, ''));
  const { SKEIN_MODEL_API_KEY: key } = environment;
  const sent = request?.headers['x-api-key'] ?? request?.headers.authorization?.replace('Bearer ', '');
  assert.equal(sent, key);
}
