import type { OrganizationId, ThreadId, UserId } from './id.ts';

export interface Thread {
  readonly organizationId: OrganizationId;
  readonly id: ThreadId;
  readonly userId: UserId;
  readonly title: string;
  readonly accountId: string | null;
  readonly secondaryId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly published: boolean;
  readonly deletedAt: number | null;
}

const generatedTitleGraphemesMax = 80;
/** A grapheme can be thousands of combining marks long: the title is bounded in UTF-16 units, too. */
const generatedTitleUnitsMax = 500;
const fallbackTitle = 'New thread';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The first line of the prompt that says anything, cut at a word within 80 graphemes. Deterministic, so that a
 * repeated create with the same idempotency key shows the same title.
 */
export function titleFromPrompt(prompt: string): string {
  const line = /\S.*/u.exec(prompt)?.[0].trimEnd() ?? '';
  return cutAtWord(line) || fallbackTitle;
}

function cutAtWord(line: string): string {
  // Nothing to cut, whatever the graphemes are: the usual case, and without the segmenter's cost (16 µs a line).
  if (line.length <= generatedTitleGraphemesMax) return line;
  let end = 0;
  let lastWordEnd = 0;
  let count = 0;
  for (const { segment, index } of graphemes.segment(line)) {
    const isSpace = segment.trim() === '';
    if (count === generatedTitleGraphemesMax || index + segment.length > generatedTitleUnitsMax) {
      return line.slice(0, isSpace || lastWordEnd === 0 ? end : lastWordEnd).trimEnd();
    }
    if (isSpace) lastWordEnd = index;
    end = index + segment.length;
    count += 1;
  }
  return line;
}
