import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extractPassageTerms } from '../../answers/src/index.ts';
import type { OperatorAuthority } from '../src/domain/authority.ts';
import type { PassageText } from '../src/domain/document.ts';
import type { DocumentId, OrganizationId } from '../src/domain/id.ts';
import type { AuditNote, Store } from '../src/storage/port/store.ts';

/** A document for tests: a title, and passages as text or under a heading. */
interface WrittenDocument {
  readonly title: string;
  readonly passages: readonly (string | PassageText)[];
  readonly name?: string;
  readonly accountId?: string;
}

export interface LibraryFixture {
  readonly store: Store;
  readonly organizationId: OrganizationId;
  close(): Promise<void>;
}

/** A library on a real store in its own folder. A document’s id is `doc_` and its name. */
export async function openLibrary(
  openStore: (file: string) => Store,
  documents: readonly WrittenDocument[],
): Promise<LibraryFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-library-'));
  const store = openStore(join(folder, 'library.db'));
  const organizationId = 'org_library' as OrganizationId;
  const organization = { id: organizationId, name: 'Library', apiEnabled: true, dailyQuota: 1 };
  await store.createOrganization(organization, note('organization.created', organizationId));
  for (const document of documents) await put(store, organizationId, document);
  return {
    store,
    organizationId,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function put(store: Store, organizationId: OrganizationId, document: WrittenDocument): Promise<void> {
  const { title, name = title, accountId = null } = document;
  const passages = document.passages.map((passage) => {
    const { heading, text } = typeof passage === 'string' ? { heading: '', text: passage } : passage;
    return { heading, text, terms: extractPassageTerms(name, title, { heading, text }) };
  });
  const id = `doc_${name}` as DocumentId;
  const written = { id, accountId, name, title, url: null, bytes: 1, passages };
  const budget = { documentsMax: 1000, bytesMax: 1000 };
  await store.putDocument(organizationId, written, budget, note('document.added', id));
}

function note(action: AuditNote['action'], subject: string): AuditNote<OperatorAuthority> {
  return {
    id: `evt_${subject}`,
    authority: { kind: 'operator' },
    traceId: 'library',
    action,
    subject,
    detail: {},
  };
}
