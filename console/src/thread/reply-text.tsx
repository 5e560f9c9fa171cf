import { Tooltip, UnstyledButton } from '@mantine/core';
import { createContext, memo, type ReactNode, useContext, useDeferredValue, useMemo } from 'react';
import Markdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import type { Json } from '../api/contract.ts';
import { Citation } from './citation.tsx';
import { CodeBlock } from './code-block.tsx';
import { closeOpenMarks } from './growing-text.ts';
import classes from './markdown.module.css';
import { formattedIfPossible, headingLevels, markdownParts } from './markdown-parts.ts';
import { hideFormulas, showFormulas } from './math.ts';
import { type HtmlNode, markReply } from './reply-marks.ts';
import { outside, safeLink } from './safe-link.ts';
import { markUnsupported, type Span } from './unsupported.ts';

export interface ReplyTextProps {
  readonly text: string;
  readonly sources: readonly Json<'source'>[] | null;
  /** The statements that were not found in the documents. */
  readonly unsupported: readonly Span[];
  /** Whether the reply is still being written, or was stopped. Its citations have no sources yet. */
  readonly isDraft: boolean;
}

const noSources: readonly Json<'source'>[] = [];
const Sources = createContext(noSources);

/**
 * Renders a reply's Markdown. HTML is shown as text, images become links, and links can only lead to web pages and mail
 * addresses.
 */
function ReplyTextOf({ text, sources, unsupported, isDraft }: ReplyTextProps) {
  const listed = sources ?? noSources;
  // Typing has priority: a long text that grows is rendered part by part when there is time.
  const shown = useDeferredValue(isDraft ? closeOpenMarks(text) : text);
  const sourceCount = useDeferredValue(isDraft ? Number.POSITIVE_INFINITY : listed.length);
  const spans = useDeferredValue(unsupported);
  const headings = headingLevels(shown);
  const parts = useMemo(() => partsWithSpans(shown, spans), [shown, spans]);
  return (
    <Sources value={listed}>
      <div className={classes.markdown}>
        {parts.map(({ text, spans }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is identified by its position.
          <Part key={at} text={text} sourceCount={sourceCount} headings={headings} spans={spans} />
        ))}
      </div>
    </Sources>
  );
}

export const ReplyText = memo(ReplyTextOf);

const noSpans: readonly Span[] = [];

/** The parts of a text, each with the spans that start in it, relative to the start of the part. */
function partsWithSpans(text: string, spans: readonly Span[]) {
  let from = 0;
  return markdownParts(text).map((part) => {
    const to = from + part.length;
    const own = spans.filter(({ start }) => start >= from && start < to);
    const moved = own.map(({ start, end }) => ({ start: start - from, end: end - from }));
    from = to;
    return { text: part, spans: own.length === 0 ? noSpans : moved };
  });
}

interface PartProps {
  readonly text: string;
  readonly sourceCount: number;
  readonly headings: string;
  readonly spans: readonly Span[];
}

const Part = memo((props: PartProps) => {
  const { text } = props;
  return formattedIfPossible(text, () => formatted(props)) ?? <p className={classes.plain}>{text}</p>;
});

function formatted({ text, sourceCount, headings, spans }: PartProps): ReactNode {
  // As long as the text itself, so that the spans fit.
  const source = hideFormulas(text);
  const marks = [
    [markUnsupported, { source, spans }],
    [markReply, { sourceCount, headings }],
    showFormulas,
  ] as never;
  // Called instead of rendered, because only then can its errors be caught.
  return Markdown({
    children: source,
    remarkPlugins: plugins,
    rehypePlugins: marks,
    urlTransform: (url) => safeLink(url) ?? '',
    components,
  });
}

const plugins = [remarkGfm];

/** Bullets, numbers and the line of a quote are on the side where the text starts. */
const directed =
  (Tag: 'ul' | 'ol' | 'blockquote') =>
  ({ node: _, ...props }: ExtraProps) => <Tag dir="auto" {...props} />;

const components: Components = {
  ul: directed('ul'),
  ol: directed('ol'),
  blockquote: directed('blockquote'),
  a: ({ href, children }) =>
    href ? <OutsideLink href={href}>{children}</OutsideLink> : <span>{children}</span>,
  pre: ({ node }) => <CodeBlock node={node as HtmlNode} />,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys.
    <figure className={classes.tableBox} aria-label="Table" tabIndex={0}>
      <table dir="auto">{children}</table>
    </figure>
  ),
  span: ({ children }) => <span className={classes.together}>{children}</span>,
  input: ({ checked }) => (
    <input type="checkbox" checked={checked === true} disabled aria-label={checked ? 'Done' : 'To do'} />
  ),
  mark: ({ children }) => (
    <mark className={classes.unsupported} title={notFoundReason}>
      {children}
    </mark>
  ),
  button: ReplyButton,
};

const notFound = 'Not found in the documents';
const notFoundReason = 'The passages this reply is based on don’t say this. Check it before you rely on it.';

function OutsideLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} {...outside}>
      {children}
    </a>
  );
}

type MarkProps = { children?: ReactNode; 'data-citation'?: string; 'data-unsupported'?: string } & ExtraProps;

function ReplyButton(props: MarkProps) {
  return props['data-unsupported'] === undefined ? <CitationMark {...props} /> : <UnsupportedFlag />;
}

/** The button after a statement that was not found. A word joiner keeps it on the same line as the last word. */
function UnsupportedFlag() {
  return (
    <>
      {'\u2060'}
      <Tooltip
        label={notFoundReason}
        events={{ hover: true, focus: true, touch: true }}
        multiline
        w="min(18rem, calc(100vw - 2rem))"
        withArrow
      >
        <UnstyledButton className={classes.flag} aria-label={notFound}>
          ?
        </UnstyledButton>
      </Tooltip>
    </>
  );
}

function CitationMark(props: MarkProps) {
  const number = Number(props['data-citation']);
  const source = useContext(Sources)[number - 1];
  if (source === undefined) {
    return (
      <span className={classes.citation} data-pending title="The source appears when the reply is complete">
        {number}
      </span>
    );
  }
  return <Citation source={source} number={number} />;
}
