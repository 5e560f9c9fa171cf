const snippetLengthMax = 300;
/** More would hardly find room. */
const placesMax = 20;

/** Where a passage says something: these of its sentences. */
export interface Place {
  readonly sentences: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Whole words, and a sign that something is left out. */
export function shortened(text: string, lengthMax: number): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  if (plain.length <= lengthMax) return plain;
  const cut = plain.slice(0, lengthMax - 1).toWellFormed();
  const space = cut.lastIndexOf(' ');
  return `${(space > lengthMax / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:.\ufffd]+$/, '')}…`;
}

/**
 * The sentences that say it, those first that were cited first, as many as there is room for; then of what follows, and
 * of what stands before.
 */
export function snippetOf(places: readonly Place[]): string {
  let shown: Shown = new Map();
  for (const { sentences, from, to } of places.slice(0, placesMax)) {
    const more = added(shown, sentences, from, to);
    if (shown.size === 0 || fits(more)) shown = more;
  }
  const [sentences, told] = [...shown][0]!;
  for (let last = Math.max(...told) + 1; last < sentences.length; last++) {
    const more = added(shown, sentences, last, last);
    if (!fits(more)) break;
    shown = more;
  }
  for (let first = Math.min(...told) - 1; first >= 0; first--) {
    const more = added(shown, sentences, first, first);
    if (!fits(more)) break;
    shown = more;
  }
  return shortened(textOf(shown), snippetLengthMax);
}

/** By passage, which of its sentences. */
type Shown = ReadonlyMap<readonly string[], ReadonlySet<number>>;

function added(shown: Shown, sentences: readonly string[], from: number, to: number): Shown {
  const told = new Set(shown.get(sentences));
  for (let at = from; at <= to; at++) told.add(at);
  return new Map(shown).set(sentences, told);
}

function textOf(shown: Shown): string {
  return [...shown].map(([sentences, told]) => textOfPassage(sentences, told)).join(' … ');
}

function textOfPassage(sentences: readonly string[], told: ReadonlySet<number>): string {
  const inOrder = [...told].sort((a, b) => a - b);
  return inOrder
    .map((at, place) => {
      const joint = place === 0 ? '' : inOrder[place - 1] === at - 1 ? ' ' : ' … ';
      return `${joint}${sentences[at]}`;
    })
    .join('');
}

function fits(shown: Shown): boolean {
  return textOf(shown).length <= snippetLengthMax;
}
