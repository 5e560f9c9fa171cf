/** A text as it is compared in a search: without case, accents and compatibility forms, so that `resume` finds `Résumé`. */
export function foldedText(text: string): string {
  // In capitals, where ß is SS and a final sigma is a sigma.
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toUpperCase();
}

/** Whether a title holds every word of the search, each anywhere in it. A search without words matches all. */
export function titleMatcher(search: string): (title: string) => boolean {
  const words = foldedText(search).split(/\s+/u).filter(Boolean);
  return (title) => {
    const folded = foldedText(title);
    return words.every((word) => folded.includes(word));
  };
}
