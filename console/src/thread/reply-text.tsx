import { UnstyledButton } from '@mantine/core';
import { createContext, memo, type ReactNode, useContext, useDeferredValue } from 'react';
import Markdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import type { SourceJson } from '../api/contract.ts';
import { CodeBlock } from './code-block.tsx';
import { closeOpenMarks } from './growing-text.ts';
import classes from './markdown.module.css';
import { headingLevels, markdownParts } from './markdown-parts.ts';
import { type HtmlNode, markReply } from './reply-marks.ts';
import { outside, safeLink } from './safe-link.ts';
import { SourcePopover } from './source-popover.tsx';

interface ReplyTextProps {
  readonly text: string;
  readonly sources: readonly SourceJson[] | null;
  /** Whether more of it is to come. */
  readonly isGrowing: boolean;
}

const noSources: readonly SourceJson[] = [];
const Sources = createContext(noSources);

/** A reply's Markdown. HTML in it is shown as text, images are links, and links lead to the web or to mail alone. */
function ReplyTextOf({ text, sources, isGrowing }: ReplyTextProps) {
  const listed = sources ?? noSources;
  // Typing goes first: a long text that grows is drawn when there is time, part by part.
  const shown = useDeferredValue(isGrowing ? closeOpenMarks(text) : text);
  const sourceCount = useDeferredValue(listed.length);
  const headings = headingLevels(shown);
  return (
    <Sources value={listed}>
      <div className={classes.markdown}>
        {markdownParts(shown).map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place.
          <Part key={at} text={part} sourceCount={sourceCount} headings={headings} />
        ))}
      </div>
    </Sources>
  );
}

export const ReplyText = memo(ReplyTextOf);

interface PartProps {
  readonly text: string;
  readonly sourceCount: number;
  readonly headings: string;
}

const Part = memo(({ text, sourceCount, headings }: PartProps) => {
  const marks = [[markReply, { sourceCount, headings }]] as never;
  return (
    <Markdown
      remarkPlugins={plugins}
      rehypePlugins={marks}
      urlTransform={(url) => safeLink(url) ?? ''}
      components={components}
    >
      {text}
    </Markdown>
  );
});

const plugins = [remarkGfm];

const components: Components = {
  a: ({ href, children }) =>
    href ? <OutsideLink href={href}>{children}</OutsideLink> : <span>{children}</span>,
  pre: ({ node }) => <CodeBlock node={node as HtmlNode} />,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrow keys.
    <figure className={classes.tableBox} aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </figure>
  ),
  span: ({ children }) => <span className={classes.together}>{children}</span>,
  input: ({ checked }) => (
    <input type="checkbox" checked={checked === true} disabled aria-label={checked ? 'Done' : 'To do'} />
  ),
  button: Citation,
};

function OutsideLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} {...outside}>
      {children}
    </a>
  );
}

function Citation(props: { children?: ReactNode } & ExtraProps & { 'data-citation'?: string }) {
  const number = Number(props['data-citation']);
  const source = useContext(Sources)[number - 1];
  if (source === undefined) return <>{props.children}</>;
  return (
    <SourcePopover source={source} number={number}>
      {(toggle) => (
        <UnstyledButton
          className={classes.citation}
          onClick={toggle}
          aria-label={`Source ${number}: ${source.title}`}
        >
          {number}
        </UnstyledButton>
      )}
    </SourcePopover>
  );
}
