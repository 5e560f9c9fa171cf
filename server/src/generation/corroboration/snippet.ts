const snippetLengthMax = 300;

/** Whole words, and a sign that something is left out. */
export function shortened(text: string, lengthMax: number): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  if (plain.length <= lengthMax) return plain;
  const cut = plain.slice(0, lengthMax - 1).toWellFormed();
  const space = cut.lastIndexOf(' ');
  return `${(space > lengthMax / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:.\ufffd]+$/, '')}…`;
}

/** The sentences that say it, with as much of what follows, then of what stands before, as there is room for. */
export function snippetOf(sentences: readonly string[], from: number, to: number): string {
  let first = from;
  let last = to;
  let snippet = sentences.slice(from, to + 1).join(' ');
  while (last + 1 < sentences.length && fits(`${snippet} ${sentences[last + 1]}`)) {
    last++;
    snippet = `${snippet} ${sentences[last]}`;
  }
  while (first > 0 && fits(`${sentences[first - 1]} ${snippet}`)) {
    first--;
    snippet = `${sentences[first]} ${snippet}`;
  }
  return shortened(snippet, snippetLengthMax);
}

function fits(text: string): boolean {
  return text.length <= snippetLengthMax;
}
