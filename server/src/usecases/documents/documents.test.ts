import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIdGenerator, type OrganizationId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import { createDocuments } from './documents.ts';

describe('Adding a document', () => {
  it('rejects a path that takes too many bytes with its account, before it is read', async () => {
    let reads = 0;
    const library = {
      formats: { endings: ['.md'], summary: '.md' },
      async read() {
        reads += 1;
        throw new Error('read');
      },
      search: assert.fail,
    };
    const documents = createDocuments({
      store: {
        putDocument: assert.fail,
        findDocument: assert.fail,
        listDocuments: assert.fail,
        listPassages: assert.fail,
        removeDocument: assert.fail,
        sweepDocuments: assert.fail,
      },
      ids: createIdGenerator(Date.now, (size) => new Uint8Array(size)),
      limits: defaultLimits,
      library,
      audit: { record: () => assert.fail('recorded') },
      limitPrompts: () => assert.fail('limited'),
      authorize: () => assert.fail('authorized'),
    });
    const organizationId = 'org_1' as OrganizationId;
    const change = {
      organizationId,
      initiator: { authority: { kind: 'operator' }, traceId: 'trace' },
    } as const;
    const name = '🧶'.repeat(defaultLimits.documentNameLengthMax);
    const room = defaultLimits.documentKeyBytesMax - Buffer.byteLength(name);
    const add = (accountId: string | null) => documents.add(change, { name, path: '/x', accountId });
    await assert.rejects(add('a'.repeat(room + 1)), { message: /more than 2,600 bytes with the account id/ });
    assert.equal(reads, 0);
    for (const accountId of [null, 'a'.repeat(room)]) await assert.rejects(add(accountId), /^Error: read$/);
  });
});
