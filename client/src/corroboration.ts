import type { ThreadMessage } from './types.ts';

/** How many statements of a reply the service found in the organization's documents. */
export interface Corroboration {
  readonly statements: number;
  readonly found: number;
  /** The number of documents they were found in. */
  readonly sources: number;
}

const one = /^The statement was (not )?found in (?:(\d+) sources?|the documents)$/;
const several = /^(All|None of|\d+ of) (\d+) statements found in (?:(\d+) sources?|the documents)$/;

/**
 * What a reply's steps say about checking its statements; null if they were not checked. A statement that was found has
 * a citation such as `[1]` in the text; the step after the count names statements that were not found.
 */
export function corroborationOf({ steps }: Pick<ThreadMessage, 'steps'>): Corroboration | null {
  // From the end, because a step of the model may look like the result of the check, which comes last.
  for (const { description } of [...(steps ?? [])].reverse()) {
    const single = one.exec(description);
    if (single !== null) {
      return { statements: 1, found: single[1] === undefined ? 1 : 0, sources: Number(single[2] ?? 0) };
    }
    const [, part, total, sources = 0] = several.exec(description) ?? [];
    if (part === undefined) continue;
    const statements = Number(total);
    const found = part === 'All' ? statements : Number.parseInt(part, 10) || 0;
    return { statements, found, sources: Number(sources) };
  }
  return null;
}
