import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newDocument, note, putDocument, strangers } from '../../../testing/contract/fixture.ts';
import { documents, passagesPerCommit } from '../sql/documents.ts';
import { organizations } from '../sql/organizations.ts';
import { WriteHealth } from '../write-health.ts';
import { CommitQueue, type MachineClock, machineClock } from './commit-queue.ts';
import { type Database, openDatabase } from './database.ts';
import { DiskGuard } from './disk-guard.ts';
import { sqlitePassageIndex } from './document-writer.ts';
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

  /** Records by how much each commit changes the number of passages. */
  class CommitWatch extends DiskGuard {
    readonly changes: number[] = [];
    readonly #count = database.prepare<[], number>('SELECT count(*) FROM passage').pluck();
    #before = 0;

    override beforeCommit(): void {
      super.beforeCommit();
      this.#before = this.#count.get()!;
    }

    override committed(durable: boolean): void {
      super.committed(durable);
      this.changes.push(Math.abs(this.#count.get()! - this.#before));
    }
  }

  /** Every sync seems to take 5 ms, and time stands still otherwise: durable writes always gather, other writes pass them. */
  const slowDisk = { wall: Date.now, steady: () => (database.inTransaction ? 0 : 5) };

  async function assertFewPassagesPerCommit(clock: MachineClock): Promise<void> {
    const watch = new CommitWatch(file, new WriteHealth());
    const commits = new CommitQueue(database, clock, watch);
    const transactions = sqliteTransactions(database, commits);
    const writer = documents(transactions, sqlitePassageIndex(database, commits));
    const organizationId = strangers.organization();
    const organization = { id: organizationId, name: 'Acme', apiEnabled: true, dailyQuota: 1 };
    await organizations(transactions).createOrganization(organization, note());
    const count = 4 * passagesPerCommit;
    const given = ['a', 'b', 'c', 'a'].map((name) =>
      newDocument({
        name,
        passages: Array.from({ length: count }, (_, index) => ({
          heading: '',
          text: `${index}`,
          terms: [`n${index}`, 'wool'],
        })),
      }),
    );
    await Promise.all(given.map((one) => putDocument(writer, organizationId, one)));
    const [, second, third] = given;
    await Promise.all([second, third].map((one) => writer.removeDocument(organizationId, one!.id, note())));
    watch.close();
    const { changes } = watch;
    assert.equal(
      changes.reduce((sum, change) => sum + change, 0),
      (4 + 1 + 2) * count,
    );
    assert.ok(Math.max(...changes) <= passagesPerCommit, `${Math.max(...changes)} in one commit`);
  }

  it('changes few passages per commit, however many documents are written and removed at once', () =>
    assertFewPassagesPerCommit(machineClock));

  it('changes few passages per commit also while durable writes gather after a slow sync', () =>
    assertFewPassagesPerCommit(slowDisk));
});
