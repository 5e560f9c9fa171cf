import { Text, Tooltip } from '@mantine/core';
import { useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { DocumentLink } from './document-link.tsx';
import classes from './markdown.module.css';

/** The number of a source in a reply. It opens the document at the passage; hover and focus show the passage. */
export function Citation({ source, number }: { source: Json<'source'>; number: number }) {
  const chip = useRef<HTMLAnchorElement>(null);
  const [cited, setCited] = useState('');
  // Read before a click follows the link. While the reply is rendered, the words before the citation may be missing.
  const readCited = () => setCited(chip.current === null ? '' : citedTextBefore(chip.current));
  return (
    <Tooltip
      label={<Preview source={source} number={number} />}
      data-testid="passage"
      events={{ hover: true, focus: true, touch: false }}
      openDelay={150}
      position="bottom-start"
      multiline
      w="min(26rem, calc(100vw - 2rem))"
    >
      <DocumentLink
        ref={chip}
        source={source}
        cited={cited}
        className={classes.citation}
        data-citation={number}
        onPointerEnter={readCited}
        onFocus={readCited}
        aria-label={`Source ${number}: ${source.title}`}
      >
        {number}
      </DocumentLink>
    </Tooltip>
  );
}

function Preview({ source: { title, snippet }, number }: { source: Json<'source'>; number: number }) {
  return (
    <>
      <Text fw={600} size="sm" className={classes.preview}>
        {number}. {title}
      </Text>
      <Text size="sm" lineClamp={8} className={classes.preview}>
        {snippet === '' ? 'No excerpt available for this source.' : snippet}
      </Text>
    </>
  );
}

/** Long enough for a statement, short enough for a URL. */
const lengthMax = 400;

/** The words of the reply that a citation stands for: those before it in its block, back to another citation. */
function citedTextBefore(citation: Element): string {
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
