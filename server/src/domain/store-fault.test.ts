import assert from 'node:assert/strict';
import { it } from 'node:test';
import { explainFault } from './store-fault.ts';

it('explains a fault of the store with its reason and a remedy', () => {
  const readOnly = { code: 'SQLITE_READONLY_DIRECTORY', message: 'attempt to write a readonly database' };
  assert.match(explainFault(readOnly), /^attempt to write a readonly database: give this user .*permission/);
  assert.equal(
    explainFault({ code: 'ECONNREFUSED', message: '' }),
    'ECONNREFUSED: start PostgreSQL, or correct the host and port',
  );
  assert.equal(explainFault(new Error('it is not a file')), 'it is not a file');
});
