import { Badge, Button, Collapse, Group, Loader, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilePlus, IconMessage } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useId } from 'react';
import type { Json } from '../api/contract.ts';
import { closestPassagesOptions, unansweredOptions } from '../api/queries.ts';
import { Chevron } from '../app/chevron.tsx';
import { Failure } from '../app/failure.tsx';
import { formatNumber } from '../app/format-count.ts';
import { Page } from '../app/page.tsx';
import { RelativeTime } from '../app/relative-time.tsx';
import { useOrganization } from '../app/session.tsx';
import { DocumentLink } from '../thread/document-link.tsx';
import { EmptyState } from './empty-state.tsx';
import { LoadMore } from './log-table.tsx';
import classes from './unanswered-page.module.css';

/** A page of the listing can be empty although more follow, so pages are loaded until there are this many rows. */
const rowsMin = 10;

export function UnansweredPage() {
  const { id } = useOrganization();
  const list = useInfiniteQuery(unansweredOptions(id));
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const rows = data?.pages.flatMap(({ replies }) => replies) ?? [];
  const needsMore = hasNextPage && !isFetchingNextPage && error === null && rows.length < rowsMin;
  useEffect(() => {
    if (needsMore) void fetchNextPage();
  }, [needsMore, fetchNextPage]);
  const isLoading = data === undefined || (rows.length === 0 && hasNextPage);
  return (
    <Page
      title="Unanswered questions"
      description="Questions that the documents didn’t answer and replies that were rated as bad, in published threads and your own. Other people’s private threads stay private."
      actions={
        <Button
          component={Link}
          to="/settings/documents"
          leftSection={<IconFilePlus size={16} aria-hidden />}
        >
          Add a document
        </Button>
      }
    >
      {error !== null && (
        <Failure error={error} title="Couldn’t load the questions" onRetry={() => list.refetch()} />
      )}
      {error === null && isLoading && <Skeletons />}
      {!isLoading && rows.length === 0 && (
        <EmptyState title="No unanswered questions">
          When a reply finds no answer, or someone rates it as bad, the question appears here.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <ul className={classes.list} aria-label="Unanswered questions">
          {rows.map((row) => (
            <li key={row.messageId}>
              <Question row={row} />
            </li>
          ))}
        </ul>
      )}
      {!isLoading && <LoadMore query={list} />}
    </Page>
  );
}

function Question({ row }: { row: Json<'unanswered'> }) {
  const { prompt, reply, accountId, askedBy, at, complaints, threadId } = row;
  const isRated = complaints.length > 0;
  return (
    <Paper component="article" withBorder p="md" className={classes.card}>
      <Group gap="xs" mb={6}>
        <Badge variant="light" color={isRated ? 'red' : 'yellow'} tt="none" radius="sm">
          {isRated ? 'Rated as bad' : 'No answer found'}
        </Badge>
        {accountId !== null && (
          <Badge variant="light" color="gray" tt="none" radius="sm">
            {accountId}
          </Badge>
        )}
        <Text size="xs" c="dimmed" className={classes.meta}>
          {askedBy} · <RelativeTime at={at} />
        </Text>
      </Group>
      <h2 className={classes.prompt} dir="auto">
        {prompt}
      </h2>
      <Text size="sm" c="dimmed" lineClamp={2} className={classes.reply}>
        {reply}
      </Text>
      {complaints.map((complaint) => (
        <blockquote key={`${complaint.by} ${complaint.at}`} className={classes.complaint}>
          {complaint.comment !== null && <p>{complaint.comment}</p>}
          <Text size="xs" c="dimmed" component="footer">
            {complaint.comment === null && 'Rated as bad by '}
            {complaint.by} · <RelativeTime at={complaint.at} />
          </Text>
        </blockquote>
      ))}
      <Actions row={row} threadId={threadId} />
    </Paper>
  );
}

function Actions({ row, threadId }: { row: Json<'unanswered'>; threadId: string }) {
  const [isOpened, { toggle }] = useDisclosure(false);
  const passages = useId();
  return (
    <>
      <Group gap="xs" mt="sm">
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Chevron opened={isOpened} size={14} />}
          aria-expanded={isOpened}
          aria-controls={passages}
          onClick={toggle}
        >
          Closest passages
        </Button>
        <Button
          renderRoot={(props) => <Link to="/threads/$threadId" params={{ threadId }} {...props} />}
          size="compact-sm"
          variant="subtle"
          leftSection={<IconMessage size={14} aria-hidden />}
        >
          Open thread
        </Button>
      </Group>
      <Collapse expanded={isOpened} id={passages}>
        {isOpened && <ClosestPassages row={row} />}
      </Collapse>
    </>
  );
}

const passagesShown = 3;
/** Enough to find the passage in its document. */
const snippetLengthMax = 300;

/** Searches again, because a document may have been added since. */
function ClosestPassages({ row: { prompt, accountId } }: { row: Json<'unanswered'> }) {
  const { id } = useOrganization();
  const { data, error, refetch } = useQuery(closestPassagesOptions(id, prompt, accountId));
  if (error !== null) {
    return <Failure error={error} title="Couldn’t search the documents" onRetry={() => refetch()} />;
  }
  if (data === undefined) return <Loader size="sm" mt="sm" aria-label="Searching the documents" />;
  if (data.passages.length === 0) {
    return (
      <Text size="sm" c="dimmed" mt="sm">
        {data.searched === 0
          ? 'There are no documents yet.'
          : `None of the ${formatNumber(data.searched)} passages contains words from this question.`}
      </Text>
    );
  }
  return (
    <ol className={classes.passages} aria-label="Closest passages">
      {data.passages.slice(0, passagesShown).map(({ documentId, title, url, heading, text }) => (
        <li key={`${documentId} ${heading} ${text}`}>
          <Text size="sm" fw={600} className={classes.breaks}>
            <DocumentLink
              className={classes.document}
              source={{ id: documentId, title, url, snippet: text.slice(0, snippetLengthMax) }}
            >
              {title}
            </DocumentLink>
            {heading !== '' && <span className={classes.heading}> › {heading}</span>}
          </Text>
          <Text size="sm" lineClamp={3} className={classes.breaks}>
            {text}
          </Text>
        </li>
      ))}
    </ol>
  );
}

function Skeletons() {
  return (
    <Stack gap="sm" aria-busy="true">
      {[1, 2, 3].map((each) => (
        <Skeleton key={each} height={132} />
      ))}
    </Stack>
  );
}
