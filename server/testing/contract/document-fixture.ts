import assert from 'node:assert/strict';
import type { OrganizationId } from '../../src/domain/id.ts';
import type { Store } from '../../src/storage/port/store.ts';

export const passage = (text: string, ...terms: string[]) => ({ heading: '', text, terms });

/** The texts of the passages that contain each term, sorted. */
export async function textsWith(
  store: Store,
  organization: OrganizationId,
  accountId: string | null,
  ...terms: string[]
): Promise<string[][]> {
  const { holders } = await store.findPassages(organization, accountId, terms, 100);
  assert.equal(holders.length, terms.length);
  const found = await Promise.all(
    holders.map((numbers) => store.readPassages(organization, accountId, numbers)),
  );
  return found.map((passages) => passages.map(({ text }) => text).sort());
}
