const snippetLengthMax = 300;
/** More would hardly fit. */
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

/** The cited sentences, those cited first as far as there is room; then what follows the first of them. */
export function snippetOf(places: readonly Place[]): string {
  let shown: Place[] = [];
  const add = (place: Place) => {
    const more = [...shown, place];
    const fits = shown.length === 0 || textOf(more).length <= snippetLengthMax;
    if (fits) shown = more;
    return fits;
  };
  for (const place of places.slice(0, placesMax)) add(place);
  const { sentences, to } = places[0]!;
  for (let at = to + 1; at < sentences.length && add({ sentences, from: at, to: at }); at += 1);
  return shortened(textOf(shown), snippetLengthMax);
}

function textOf(places: readonly Place[]): string {
  const passages = new Map<readonly string[], Set<number>>();
  for (const { sentences, from, to } of places) {
    const own = passages.get(sentences) ?? new Set();
    for (let at = from; at <= to; at += 1) own.add(at);
    passages.set(sentences, own);
  }
  const texts = [...passages].map(([sentences, own]) => {
    const inOrder = [...own].sort((a, b) => a - b);
    const joint = (at: number) => (own.has(at - 1) ? ' ' : at === inOrder[0] ? '' : ' … ');
    return inOrder.map((at) => `${joint(at)}${sentences[at]}`).join('');
  });
  return texts.join(' … ');
}
