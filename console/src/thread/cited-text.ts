/** Long enough for a statement, short enough for an address. */
const lengthMax = 400;

/** The words of the reply that a citation stands for: those before it in its block, back to another citation. */
export function citedTextBefore(citation: Element): string {
  const block = citation.closest('tr, li, p, td, h3, h4, h5, h6') ?? citation.parentElement;
  if (block === null) return '';
  const before = [...block.querySelectorAll('[data-citation]')].filter((other) => {
    return other.compareDocumentPosition(citation) & Node.DOCUMENT_POSITION_FOLLOWING;
  });
  const range = document.createRange();
  range.setEndBefore(citation);
  for (const other of before.toReversed()) {
    range.setStartAfter(other);
    if (hasWords(range.toString())) return shortened(range.toString());
  }
  range.setStart(block, 0);
  return shortened(range.toString());
}

function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** The end of a long text is closest to the citation. */
function shortened(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^[.,;:!?]+ ?/, '')
    .slice(-lengthMax)
    .toWellFormed();
}
