import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultLimits } from '../../domain/limits.ts';
import type { Change } from '../organization/audit-log.ts';
import { addDocument } from './documents.ts';

describe('addDocument', () => {
  it('rejects a path that takes too many bytes with its account, before it is read', async () => {
    let reads = 0;
    const library = {
      async read() {
        reads += 1;
        throw new Error('read');
      },
    };
    const change = { context: { library }, organizationId: 'org_1' } as unknown as Change;
    const name = '🧶'.repeat(defaultLimits.documentNameLengthMax);
    const room = defaultLimits.documentKeyBytesMax - Buffer.byteLength(name);
    const add = (accountId: string | null) => addDocument(change, { name, path: '/x', accountId });
    await assert.rejects(add('a'.repeat(room + 1)), { message: /more than 2,600 bytes with the account id/ });
    assert.equal(reads, 0);
    for (const accountId of [null, 'a'.repeat(room)]) await assert.rejects(add(accountId), /^Error: read$/);
  });
});
