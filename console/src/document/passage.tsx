import { IconLink } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Fragment, memo, type ReactNode, useMemo } from 'react';
import type { Json } from '../api/contract.ts';
import { citedSpans, type Span } from './cited-spans.ts';
import classes from './document.module.css';
import { headingsBetween } from './heading-path.ts';
import { type Block, type Piece, passageBlocks } from './passage-blocks.ts';

interface PassageProps {
  readonly passage: Json<'passages'>['passages'][number];
  /** From 0. */
  readonly position: number;
  /** The headings above the passage before it. */
  readonly headingBefore: string;
  /** What cites the passage: words of the reply, or of the passage. Empty for the other passages. */
  readonly citedBy: readonly string[];
  readonly isTarget: boolean;
}

/** The id of a passage's element, for links to it. */
export function passageAnchor(position: number): string {
  return `p${position + 1}`;
}

function PassageOf({ passage, position, headingBefore, citedBy, isTarget }: PassageProps) {
  const { heading, text } = passage;
  const blocks = useMemo(() => passageBlocks(text), [text]);
  const spans = useMemo(() => firstFound(text, citedBy), [text, citedBy]);
  return (
    <section
      id={passageAnchor(position)}
      tabIndex={-1}
      className={classes.passage}
      data-cited={citedBy.length > 0 || undefined}
      data-target={isTarget || undefined}
      aria-label={citedBy.length > 0 ? `Passage ${position + 1}, cited` : `Passage ${position + 1}`}
    >
      {headingsBetween(headingBefore, heading).map(({ text, depth }) => {
        const Tag = (['h2', 'h3', 'h4'] as const)[Math.min(depth, 3) - 1]!;
        return (
          <Tag key={depth} className={classes.heading}>
            {text}
          </Tag>
        );
      })}
      <Link
        to="."
        search={true}
        hash={passageAnchor(position)}
        className={classes.anchor}
        aria-label={`Link to passage ${position + 1}`}
      >
        <IconLink size={16} aria-hidden />
      </Link>
      {blocks.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is identified by its position.
        <BlockView key={at} block={block} spans={spans} />
      ))}
    </section>
  );
}

export const Passage = memo(PassageOf);

function firstFound(text: string, citedBy: readonly string[]): readonly Span[] {
  for (const cited of citedBy) {
    const spans = citedSpans(text, cited);
    if (spans.length > 0) return spans;
  }
  return [];
}

function BlockView({ block, spans }: { block: Block; spans: readonly Span[] }) {
  const marked = (piece: Piece) => <Marked piece={piece} spans={spans} />;
  switch (block.kind) {
    case 'paragraph':
      return (
        <p dir="auto" className={classes.paragraph}>
          {marked(block.piece)}
        </p>
      );
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys.
        <pre className={classes.code} tabIndex={0}>
          {block.piece.text}
        </pre>
      );
    case 'list':
      return (
        <ul dir="auto">
          {block.items.map((item) => (
            <li key={item.start}>{marked(item)}</li>
          ))}
        </ul>
      );
    case 'table':
      return <Table header={block.header} rows={block.rows} marked={marked} />;
  }
}

interface TableProps {
  readonly header: readonly Piece[];
  readonly rows: readonly (readonly Piece[])[];
  readonly marked: (piece: Piece) => ReactNode;
}

function Table({ header, rows, marked }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys.
    <figure className={classes.tableBox} aria-label="Table" tabIndex={0}>
      <table dir="auto">
        {header.length > 0 && (
          <thead>
            <tr>
              {header.map((cell) => (
                <th key={cell.start}>{marked(cell)}</th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position.
            <tr key={at}>
              {row.map((cell) => (
                <td key={cell.start}>{marked(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function Marked({ piece: { text, start }, spans }: { piece: Piece; spans: readonly Span[] }) {
  const end = start + text.length;
  const own = spans.filter((span) => span.start < end && span.end > start);
  let from = 0;
  const parts = own.map((span) => {
    const [begin, stop] = [Math.max(0, span.start - start), Math.min(text.length, span.end - start)];
    const part = (
      <Fragment key={span.start}>
        {text.slice(from, begin)}
        <mark>{text.slice(begin, stop)}</mark>
      </Fragment>
    );
    from = stop;
    return part;
  });
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}
