import { IconAlertCircle, IconCircleCheck, IconListCheck } from '@tabler/icons-react';
import { type ComponentType, lazy, memo, useMemo, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { counted } from '../app/format-count.ts';
import { DocumentLink, WrittenAt } from './document-link.tsx';
import classes from './reply.module.css';
import { ReplyActions } from './reply-actions.tsx';
import { ReplyEnding } from './reply-ending.tsx';
import { ReplySteps } from './reply-steps.tsx';
import type { ReplyTextProps } from './reply-text.tsx';
import { webLink } from './safe-link.ts';
import hidden from './unseen.module.css';
import type { VersionChoice } from './version-pager.tsx';

/** A separate chunk that loads together with this file: the Markdown renderer is larger than the rest of the page. */
const loading = import('./reply-text.tsx').then(({ ReplyText }) => {
  loaded = ReplyText;
  return { default: ReplyText };
});
const LazyReplyText = lazy(() => loading);
/** Used once it is known: a lazy component always suspends first, and the messages would disappear for a moment. */
let loaded: ComponentType<ReplyTextProps> | undefined;

function ReplyText(props: ReplyTextProps) {
  const [Text] = useState(() => loaded ?? LazyReplyText);
  return <Text {...props} />;
}

interface ReplyProps {
  readonly reply: Json<'reply'>;
  readonly clockAheadMs: number | null;
  readonly version: VersionChoice;
  readonly onRetry: (() => Promise<unknown>) | undefined;
}

/** Rendered again only if something changed: a long thread has hundreds of replies, and one of them grows. */
export const Reply = memo(
  WholeReply,
  (before, { reply, clockAheadMs, version, onRetry }) =>
    before.reply === reply &&
    before.clockAheadMs === clockAheadMs &&
    before.version.at === version.at &&
    before.version.count === version.count &&
    before.onRetry === onRetry,
);

function WholeReply(props: ReplyProps) {
  return (
    <WrittenAt value={props.reply.createdAt}>
      <ReplyParts {...props} />
    </WrittenAt>
  );
}

function ReplyParts({ reply, clockAheadMs, version, onRetry }: ReplyProps) {
  const { status, content, sources, verdict } = reply;
  const unsupported = useMemo(
    () => (verdict?.checked ?? []).filter((statement) => statement.sources.length === 0),
    [verdict],
  );
  const hasText = content !== '' && status !== 'failed';
  return (
    <article className={classes.reply} data-testid="reply" data-status={status}>
      <h2 className={hidden.unseen}>Reply</h2>
      <ReplySteps reply={reply} clockAheadMs={clockAheadMs} />
      {verdict !== null && <Verdict verdict={verdict} />}
      {hasText && (
        <ReplyText
          text={content}
          sources={sources}
          unsupported={unsupported}
          isDraft={status !== 'completed'}
        />
      )}
      {status === 'corroborating' && <Corroborating />}
      <ReplyEnding reply={reply} onRetry={onRetry} />
      {sources !== null && sources.length > 0 && status !== 'failed' && <ReplySources sources={sources} />}
      <ReplyActions reply={reply} version={version} onRetry={onRetry} />
    </article>
  );
}

/** How much of the reply was found in the documents. */
function Verdict({ verdict: { summary, statements, found, checked } }: { verdict: Json<'verdict'> }) {
  const isAll = found === statements;
  const Icon = isAll ? IconCircleCheck : IconAlertCircle;
  return (
    <p className={classes.verdict} data-testid="verdict">
      <Icon size={16} aria-hidden />
      <span>
        {summary}
        {!isAll && `. ${underlinedText(statements - found, statements)}`}
        {!isAll && checked.length < statements && ` Only the first ${checked.length} were marked.`}
      </span>
    </p>
  );
}

function underlinedText(missing: number, statements: number): string {
  if (missing === statements) return statements === 1 ? 'It is underlined.' : 'They are underlined.';
  return missing === 1 ? 'The other one is underlined.' : `The other ${missing} are underlined.`;
}

function Corroborating() {
  return (
    <div className={classes.step} data-testid="corroborating" data-alone>
      <IconListCheck size={16} aria-hidden />
      <span className={classes.stepText}>Checking each statement against the sources</span>
    </div>
  );
}

/** The sources of a reply, numbered like its citations. Each opens its document at the cited passage. */
function ReplySources({ sources }: { sources: readonly Json<'source'>[] }) {
  return (
    <div className={classes.sources}>
      <h3 className={classes.smallHeading}>{counted(sources.length, 'source')}</h3>
      <ol className={classes.sourceList}>
        {sources.map((source, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a source is identified by its number.
          <li key={at}>
            <DocumentLink source={source} className={classes.source}>
              <span className={classes.sourceNumber}>{at + 1}</span>
              <span className={classes.sourceTitle}>{source.title}</span>
              <span className={classes.sourceHost}>{parseHost(source.url)}</span>
            </DocumentLink>
          </li>
        ))}
      </ol>
    </div>
  );
}

function parseHost(url: string | null): string {
  const link = webLink(url);
  return link === undefined ? '' : new URL(link).host;
}
