/** Removes case, accents and compatibility forms for searching, so that `resume` finds `Résumé`. */
export function foldedText(text: string): string {
  // Upper case also folds ß to SS and a final sigma to a sigma.
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toUpperCase();
}

/** Matches titles that contain every word of the search, in any order. A search without words matches all titles. */
export function titleMatcher(search: string): (title: string) => boolean {
  const words = foldedText(search).split(/\s+/u).filter(Boolean);
  return (title) => {
    const folded = foldedText(title);
    return words.every((word) => folded.includes(word));
  };
}
