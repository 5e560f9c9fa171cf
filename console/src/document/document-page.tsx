import { Alert, Anchor, Badge, Button, Skeleton, Text } from '@mantine/core';
import { IconExternalLink, IconFileText, IconHistory } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams, useRouterState, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import type { Json } from '../api/contract.ts';
import { type Citation, documentOptions } from '../api/queries.ts';
import { Failure } from '../app/failure.tsx';
import { counted } from '../app/format-count.ts';
import { Page } from '../app/page.tsx';
import { RelativeTime } from '../app/relative-time.tsx';
import { useOrganization } from '../app/session.tsx';
import { outside, webLink } from '../thread/safe-link.ts';
import classes from './document.module.css';
import { headingsBetween } from './heading-path.ts';
import { Passage, passageAnchor } from './passage.tsx';
import { type LoadedPassages, usePassages } from './use-passages.ts';

/** A document of the organization, opened at the passage that the URL or a citation names. */
export function DocumentPage() {
  const { documentId } = useParams({ from: '/signedIn/documents/$documentId' });
  const citation = useSearch({ from: '/signedIn/documents/$documentId' });
  const organization = useOrganization();
  const { data: document } = useSuspenseQuery(documentOptions(organization.id, documentId, citation));
  return (
    <Page
      title={document.title}
      description={<About document={document} />}
      width={document.headings.length > 1 ? 'wide' : 'text'}
    >
      <VersionNote document={document} citation={citation} />
      <DocumentText
        key={`${document.id} ${document.addedAt}`}
        organizationId={organization.id}
        document={document}
        citation={citation}
      />
    </Page>
  );
}

function About({
  document: { name, title, url, accountId, passages, addedAt },
}: {
  document: Json<'openedDocument'>;
}) {
  const link = webLink(url);
  return (
    <div className={classes.about}>
      {name !== title && <span className={classes.name}>{name}</span>}
      {accountId !== null && (
        <Badge variant="light" color="gray" tt="none">
          Account {accountId}
        </Badge>
      )}
      <span>{counted(passages, 'passage')}</span>
      <span>
        Added <RelativeTime at={addedAt} />
      </span>
      {link !== undefined && (
        <Anchor href={link} {...outside} size="sm">
          {new URL(link).host} <IconExternalLink size={14} aria-label="(opens in a new window)" />
        </Anchor>
      )}
    </div>
  );
}

/** For readers who follow a citation: the passage may have changed since the reply was written. */
function VersionNote({ document, citation }: { document: Json<'openedDocument'>; citation: Citation }) {
  const { since, snippet } = citation;
  const isReplaced = since !== undefined && Date.parse(document.addedAt) > Date.parse(since);
  const isLost = snippet !== undefined && document.citedPosition === null;
  if (!isReplaced && !isLost) return null;
  return (
    <Alert
      variant="light"
      color={isReplaced ? 'yellow' : 'gray'}
      icon={isReplaced ? <IconHistory aria-hidden /> : <IconFileText aria-hidden />}
      title={isReplaced ? 'This document was replaced' : 'The cited passage was not found'}
      role="note"
      mb="lg"
    >
      {isReplaced && (
        <Text size="sm">
          The reply was written before this version was added.{' '}
          {isLost ? 'It cited:' : 'The passage may have changed.'}
        </Text>
      )}
      {isLost && <blockquote className={classes.lost}>{snippet}</blockquote>}
    </Alert>
  );
}

interface DocumentTextProps {
  readonly organizationId: string;
  readonly document: Json<'openedDocument'>;
  readonly citation: Citation;
}

function DocumentText({ organizationId, document, citation }: DocumentTextProps) {
  const { headings, citedPosition } = document;
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const named = Number(/^p(\d{1,6})$/.exec(hash)?.[1] ?? 0) - 1;
  const target = named >= 0 ? named : (citedPosition ?? -1);
  const { loaded, isTargetLoaded } = usePassages(organizationId, document, Math.max(0, target));
  const { cited, snippet } = citation;
  const citedBy = useMemo(() => [cited, snippet].filter((text) => text !== undefined), [cited, snippet]);

  useEffect(() => {
    if (!isTargetLoaded || target < 0) return;
    const passage = window.document.getElementById(passageAnchor(target));
    passage?.scrollIntoView({ block: 'start' });
    passage?.focus({ preventScroll: true });
  }, [isTargetLoaded, target]);

  const { passages, first } = loaded;
  return (
    <div className={classes.layout} data-contents={headings.length > 1 || undefined}>
      {headings.length > 1 && (
        <nav className={classes.aside} aria-label="Contents">
          <details className={classes.folded}>
            <summary>Contents</summary>
            <DocumentContents headings={headings} />
          </details>
          <div className={classes.unfolded}>
            <p className={classes.contentsTitle}>Contents</p>
            <DocumentContents headings={headings} />
          </div>
        </nav>
      )}
      <article className={classes.text}>
        {loaded.hasEarlier && (
          <Button variant="default" size="xs" mb="md" onClick={loaded.loadEarlier} loading={loaded.isLoading}>
            Show earlier passages
          </Button>
        )}
        {passages.map((passage, at) => (
          <Passage
            // biome-ignore lint/suspicious/noArrayIndexKey: a passage is identified by its position.
            key={first + at}
            passage={passage}
            position={first + at}
            headingBefore={passages[at - 1]?.heading ?? ''}
            citedBy={first + at === citedPosition ? citedBy : noCitations}
            isTarget={first + at === target}
          />
        ))}
        <TextEnd loaded={loaded} />
      </article>
    </div>
  );
}

const noCitations: readonly string[] = [];

/** Loads the next passages before the reader reaches the end. */
function TextEnd({
  loaded: { hasLater, isLoading, error, loadLater, retry, passages },
}: {
  loaded: LoadedPassages;
}) {
  const end = useRef<HTMLDivElement>(null);
  const mayLoad = hasLater && !isLoading && error === null;
  useEffect(() => {
    if (!mayLoad || end.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && loadLater(),
      { rootMargin: '800px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [mayLoad, loadLater]);
  if (error !== null) return <Failure error={error} onRetry={retry} />;
  if (passages.length === 0) return <Skeleton height="6rem" aria-busy="true" />;
  return hasLater ? <div ref={end} className={classes.end} aria-busy={isLoading} /> : null;
}

/** The headings of a document, each a link to its first passage. */
function DocumentContents({ headings }: Pick<Json<'openedDocument'>, 'headings'>) {
  const entries = headings.flatMap(({ heading, position }, at) =>
    headingsBetween(headings[at - 1]?.heading ?? '', heading).map((entry) => ({ ...entry, position })),
  );
  return (
    <ol className={classes.contents}>
      {entries.map(({ text, depth, position }) => (
        <li key={`${position} ${depth}`} data-depth={Math.min(depth, 4)}>
          <Link to="." search={true} hash={passageAnchor(position)}>
            {text}
          </Link>
        </li>
      ))}
    </ol>
  );
}
