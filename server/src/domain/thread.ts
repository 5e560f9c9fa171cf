import { splitGraphemes, visibleCharacter, withoutInvisible } from '../../../runtime/src/pure/text.ts';
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

/** How long the author of a deleted thread can restore it. */
export const undoMs = 600_000;

const generatedTitleGraphemesMax = 80;
/** A grapheme can consist of thousands of combining marks, so the title is also limited in UTF-16 units. */
const generatedTitleUnitsMax = 500;
/** How much of the line is read. This is more than the title's length, because some characters may be invisible. */
const titleSourceUnitsMax = 600;
const fallbackTitle = 'New thread';

/** 25,000 fences would take 30 ms. */
const skippedMax = 1000;
/** At the start of a line: quote marks, or a whole line that opens or closes a block of code. */
const quoteOrFence = /(?:>[>\s]*|`{3,}[^`\n\r\u2028\u2029]*$|~{3,}[^~\n\r\u2028\u2029]*$)/my;

/**
 * The first line of the prompt that says something, without quote marks and invisible characters. A long one is cut at a word
 * within 80 graphemes and ends with an ellipsis. Deterministic, so that a repeated create with the same idempotency key shows
 * the same title.
 */
export function titleFromPrompt(prompt: string): string {
  const start = titleStart(prompt);
  const line = /^.*/.exec(prompt.slice(start, start + titleSourceUnitsMax))![0];
  return cutAtWord(withoutInvisible(line).trimEnd()) || fallbackTitle;
}

function titleStart(prompt: string): number {
  for (let start = 0, skipped = 0; ; start = quoteOrFence.lastIndex, skipped += 1) {
    const visible = prompt.slice(start).search(visibleCharacter);
    if (visible === -1) return prompt.length;
    quoteOrFence.lastIndex = start + visible;
    if (skipped === skippedMax || !quoteOrFence.test(prompt)) return start + visible;
  }
}

function cutAtWord(line: string): string {
  // The usual case: a line this short needs no cut, so skip the segmenter (16 µs per line).
  if (line.length <= generatedTitleGraphemesMax) return line;
  let end = 0;
  let lastWordEnd = 0;
  let count = 0;
  for (const { segment, index } of splitGraphemes(line)) {
    const isSpace = segment.trim() === '';
    const isLast = index + segment.length === line.length;
    // Unless it is the last grapheme, an ellipsis must fit after it.
    const unitsMax = isLast ? generatedTitleUnitsMax : generatedTitleUnitsMax - 1;
    if (count === generatedTitleGraphemesMax || index + segment.length > unitsMax) {
      const cut = line.slice(0, isSpace || lastWordEnd === 0 ? end : lastWordEnd).trimEnd();
      return cut && `${cut}…`;
    }
    if (isSpace) lastWordEnd = index;
    end = index + segment.length;
    count += 1;
  }
  return line;
}
