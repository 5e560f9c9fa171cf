import assert from 'node:assert/strict';
import { corroborated } from '../src/composition/corroborated.ts';
import type { FoundPassage } from '../src/port/documents.ts';
import type { DraftEvent, ReplyEvent } from '../src/port/model.ts';

export function passage(title: string, text: string, heading = ''): FoundPassage {
  return { documentId: `doc_${title}`, name: title, title, url: null, heading, text };
}

export const refunds = passage(
  'Refunds',
  'Unused goods are refunded within 30 days. Gift cards cannot be refunded.',
);
export const shipping = passage(
  'Shipping',
  'Parcels to Norway cost €12. Parcels leave the house on Tuesday.',
);
const moreRefunds = passage('Refunds', 'A refund is paid to the card that was used.', 'Payment');

/** The events of a reply by a model that wrote this draft from these passages. */
export async function reply(
  draft: string,
  passages: readonly FoundPassage[],
  prompt = 'How are refunds paid?',
): Promise<ReplyEvent[]> {
  async function* events(): AsyncGenerator<DraftEvent> {
    yield { type: 'step', description: 'Drafting' };
    if (passages.length > 0) yield { type: 'passages', passages };
    yield { type: 'text', text: draft.slice(0, 5) };
    yield { type: 'text', text: draft.slice(5) };
  }
  const request = {
    organizationId: 'org_1',
    accountId: null,
    conversation: [{ role: 'user', content: prompt }] as const,
    attempt: 1,
    signal: AbortSignal.timeout(60_000),
  };
  const emitted: ReplyEvent[] = [];
  for await (const event of corroborated({ name: 'drafter', draft: events }).reply(request))
    emitted.push(event);
  return emitted;
}

/** What a draft became: its steps, text, sources and verdict. */
export async function corroborate(
  draft: string,
  passages: readonly FoundPassage[] = [refunds, shipping, moreRefunds],
) {
  const events = await reply(draft, passages);
  const at = events.findIndex(({ type }) => type === 'corroborating');
  assert.ok(at > 0, 'nothing was corroborated');
  const after = events.slice(at + 1);
  return {
    steps: after.flatMap((event) => (event.type === 'step' ? [event.description] : [])),
    text: after.flatMap((event) => (event.type === 'revision' ? [event.text] : [])).join('|'),
    sources: after.flatMap((event) => (event.type === 'sources' ? event.sources : [])),
    verdict: after.find((event) => event.type === 'verdict')?.verdict,
  };
}
