import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { uncommittedStatements } from '../../../testing/committed-statements.ts';
import { describeStore } from '../../../testing/contract/describe-store.ts';
import { TestClock } from '../../../testing/contract/fixture.ts';
import { openSqliteStore } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'skein-sqlite-'));
after(() => rmSync(folder, { recursive: true, force: true }));

// Copied for each test: creating the schema would take longer than most tests.
const template = join(folder, 'template.db');
await openSqliteStore(template, new TestClock()).close();

let files = 0;
// Also those that are made later than when the store is opened.
after(() => assert.deepEqual(uncommittedStatements('sqlite'), [], 'run npm run statements'));

describeStore('sqlite', () => {
  files += 1;
  const file = join(folder, `${files}.db`);
  return (clock) => {
    if (!existsSync(file)) copyFileSync(template, file);
    return openSqliteStore(file, clock);
  };
});
