import type { Document, PassageText } from '../../domain/document.ts';
import { notFound } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { nextTurn } from '../turns.ts';

/** Limits what is sent: real documents have fewer. */
const headingsMax = 500;
/** On SQLite, the event loop reads this many passages in half a millisecond. */
const passagesPerRead = 100;

/**
 * The document, its first headings with the positions of their first passages, counted from 0, and the position of the
 * cited passage: null if the document does not contain it, or no longer. Every member may read the organization's
 * documents. Reads the document in parts, so that no other request waits long. `citedTexts`: what a citation says about
 * the passage that it cites, most precise first: words of the passage, or of the reply.
 */
export async function openDocument(
  { store }: Context,
  organizationId: OrganizationId,
  documentId: string,
  citedTexts: readonly string[],
) {
  const document = await findDocument(store, organizationId, documentId);
  // A source joins parts of a passage with ellipses: the first one is searched for.
  const fragments = citedTexts.map((text) => inOneLine(text).split('…')[0]!.trim());
  const found = fragments.map((): number | undefined => undefined);
  const headings: { heading: string; position: number }[] = [];
  let position = 0;
  for (let after = 0; ; await nextTurn(organizationId)) {
    const passages = await store.listPassages(organizationId, documentId, { after, limit: passagesPerRead });
    for (const { heading, text } of passages) {
      const isNew = heading !== '' && heading !== headings.at(-1)?.heading;
      if (isNew && headings.length < headingsMax) headings.push({ heading, position });
      const line = fragments.length === 0 ? '' : inOneLine(text);
      for (const [at, fragment] of fragments.entries()) {
        if (found[at] === undefined && fragment !== '' && line.includes(fragment)) found[at] = position;
      }
      position += 1;
    }
    if (passages.length < passagesPerRead) break;
    after = passages.at(-1)!.number;
  }
  return { document, headings, citedPosition: found.find((one) => one !== undefined) ?? null };
}

export async function readPassages(
  { store }: Context,
  organizationId: OrganizationId,
  documentId: string,
  page: { readonly skip: number; readonly limit: number },
): Promise<readonly PassageText[]> {
  const passages = await store.listPassages(organizationId, documentId, page);
  if (passages.length === 0) await findDocument(store, organizationId, documentId);
  return passages;
}

async function findDocument(
  store: Context['store'],
  organizationId: OrganizationId,
  documentId: string,
): Promise<Document> {
  const document = await store.findDocument(organizationId, documentId);
  if (document === undefined) throw notFound('There is no such document.');
  return document;
}

/** As in the snippets of sources. */
function inOneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}
