import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { describeStore } from '../../../testing/contract/describe-store.ts';
import { openSqliteStore } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'skein-sqlite-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
describeStore('sqlite', () => {
  files += 1;
  const file = join(folder, `${files}.db`);
  return (clock) => openSqliteStore(file, clock);
});
