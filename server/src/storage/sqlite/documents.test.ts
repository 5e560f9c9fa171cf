import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { newDocument, note, putDocument, strangers } from '../../../testing/contract/fixture.ts';
import { documents, passagesPerCommit } from '../sql/documents.ts';
import { organizations } from '../sql/organizations.ts';
import { CommitQueue } from './commit-queue.ts';
import { type Database, openDatabase } from './database.ts';
import { sqlitePassageIndex } from './documents.ts';
import { machineClock } from './store-time.ts';
import { sqliteTransactions } from './transactions.ts';

describe('The writer of documents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-writer-'));
  const file = join(folder, 'skein.db');
  let database: Database;
  before(() => {
    database = openDatabase(file);
  });
  after(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function assertFewPassagesPerCommit(sync: () => Promise<void>): Promise<void> {
    const count = database.prepare<[], number>('SELECT count(*) FROM passage').pluck();
    const changes: number[] = [];
    let last = count.get()!;
    const commits = new CommitQueue(database, machineClock, sync, {
      committed() {
        const now = count.get()!;
        changes.push(Math.abs(now - last));
        last = now;
      },
    });
    const transactions = sqliteTransactions(database, commits);
    const writer = documents(transactions, sqlitePassageIndex(database, commits));
    const organizationId = strangers.organization();
    const organization = { id: organizationId, name: 'Acme', apiEnabled: true, dailyQuota: 1 };
    await organizations(transactions).createOrganization(organization, note());
    const each = 4 * passagesPerCommit;
    const given = ['a', 'b', 'c', 'a'].map((name) =>
      newDocument({
        name,
        passages: Array.from({ length: each }, (_, index) => ({
          heading: '',
          text: `${index}`,
          terms: [`n${index}`, 'wool'],
        })),
      }),
    );
    await Promise.all(given.map((one) => putDocument(writer, organizationId, one)));
    const [, second, third] = given;
    await Promise.all([second, third].map((one) => writer.removeDocument(organizationId, one!.id, note())));
    assert.equal(
      changes.reduce((sum, change) => sum + change, 0),
      (4 + 1 + 2) * each,
    );
    assert.ok(Math.max(...changes) <= passagesPerCommit, `${Math.max(...changes)} in one commit`);
  }

  it('changes few passages per commit, however many documents are written and removed at once', () =>
    assertFewPassagesPerCommit(async () => {}));

  it('changes few passages per commit also while durable writes wait for a slow sync', () =>
    assertFewPassagesPerCommit(() => setTimeout(5)));
});
