import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { corroborationOf } from '../../../client/src/index.ts';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import { Service } from '../../harness/service/service.ts';
import { type Client, packedClient } from './packed.ts';

const read = (...descriptions: string[]) =>
  corroborationOf({ steps: descriptions.map((description) => ({ description })) });

describe('The corroboration of a reply', () => {
  it('is read from every form of the step', () => {
    for (const [step, statements, found, sources] of [
      ['7 of 9 statements found in 2 sources', 9, 7, 2],
      ['1 of 2 statements found in 1 source', 2, 1, 1],
      ['All 12 statements found in 3 sources', 12, 12, 3],
      ['None of 4 statements found in the documents', 4, 0, 0],
      ['The statement was found in 1 source', 1, 1, 1],
      ['The statement was not found in the documents', 1, 0, 0],
    ] as const) {
      assert.deepEqual(read('Searching', step, 'Not found in the documents: “It is.”'), {
        statements,
        found,
        sources,
      });
    }
  });

  it('is null if nothing was checked', () => {
    assert.equal(read(), null);
    assert.equal(read('Searching 5 passages', 'I think that 7 of 9 statements found in 2 sources'), null);
    assert.equal(corroborationOf({ steps: null }), null);
  });

  it('is read from the last step that reports it', () => {
    const expected = { statements: 2, found: 2, sources: 1 };
    assert.deepEqual(
      read('7 of 9 statements found in 2 sources', 'All 2 statements found in 1 source'),
      expected,
    );
  });
});

describe('Asking a language model', () => {
  let model: ModelServer;
  let service: Service;
  let client: Client;
  let apiKey: string;
  before(async () => {
    model = await startModelServer();
    const environment = { SKEIN_MODEL: 'openai-compatible/stand-in', SKEIN_MODEL_BASE_URL: model.url };
    service = await Service.start({ environment });
    client = await packedClient();
    apiKey = (await service.skein('key', 'create', 'Demo', '--user', 'admin@demo.example')).key;
  });
  after(async () => {
    await service?.end();
    await model?.close();
  });

  it('returns how many statements the service found in the documents', async () => {
    const { threads } = new client.Skein({ baseUrl: service.baseUrl, apiKey });
    const said =
      'Unused yarn can be returned within 30 days of purchase [1]. The director plays the trombone.';
    const { corroboration, sources } = await threads.ask(`!deltas ${JSON.stringify([said])}`);
    assert.deepEqual(corroboration, { statements: 2, found: 1, sources: 1 });
    assert.equal(sources.length, 1);
  });
});
