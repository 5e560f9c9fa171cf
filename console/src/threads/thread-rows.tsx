import { Badge, Button, Skeleton, Text, VisuallyHidden } from '@mantine/core';
import { IconUser, IconWorld } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import type { Json } from '../api/contract.ts';
import { RelativeTime } from '../app/relative-time.tsx';
import { shownTitle } from './shown-title.ts';
import { StateMark } from './state-mark.tsx';
import classes from './threads.module.css';
import type { ThreadList } from './use-thread-list.ts';

const skeletonRows = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

export function ThreadRows({ list, scope }: { list: ThreadList; scope: 'mine' | 'published' }) {
  if (list.isPending || (list.isSearching && list.threads.length === 0)) {
    return (
      <div aria-busy="true">
        <VisuallyHidden>Loading threads</VisuallyHidden>
        {skeletonRows.map((row) => (
          <div key={row} className={classes.row}>
            <Skeleton height="0.9rem" width="60%" mt={4} />
            <Skeleton height="0.7rem" width="90%" mt={10} />
            <Skeleton height="0.7rem" width="25%" mt={10} />
          </div>
        ))}
      </div>
    );
  }
  return (
    <>
      <ul className={classes.rows} aria-label="Threads" data-testid="threads">
        {list.threads.map((thread) => (
          <ThreadRow key={thread.id} thread={thread} scope={scope} />
        ))}
      </ul>
      <ListEnd list={list} />
    </>
  );
}

function ThreadRow({ thread, scope }: { thread: Json<'threadRow'>; scope: 'mine' | 'published' }) {
  const title = shownTitle(thread.title);
  const marked = title === thread.title && thread.found;
  return (
    <li>
      <Link
        to="/threads/$threadId"
        params={{ threadId: thread.id }}
        className={classes.row ?? ''}
        data-thread-row
        onKeyDown={moveWithArrows}
      >
        <span className={classes.title} dir="auto">
          {marked ? <Segments of={marked.title} /> : title}
        </span>
        <span className={classes.line} dir="auto">
          {thread.found?.text ? <Segments of={thread.found.text} /> : chooseLine(thread)}
        </span>
        <span className={classes.about}>
          <StateMark state={thread.state} />
          <RelativeTime at={thread.updatedAt ?? thread.createdAt} />
          {thread.accountId !== null && (
            <Badge variant="light" color="gray" size="sm" radius="sm" tt="none" fw={500} maw="16rem">
              <VisuallyHidden>Account </VisuallyHidden>
              {thread.accountId}
            </Badge>
          )}
          {!thread.mine && (
            <span className={classes.author}>
              <VisuallyHidden>By </VisuallyHidden>
              {thread.createdBy}
            </span>
          )}
          {scope === 'mine' && thread.published && <Mark Icon={IconWorld} text="Published" />}
          {scope === 'published' && thread.mine && <Mark Icon={IconUser} text="Yours" />}
        </span>
      </Link>
    </li>
  );
}

function chooseLine({ line, state }: Json<'threadRow'>): string {
  if (line !== '') return line;
  return state === 'in_progress' ? 'Waiting for the reply' : 'No reply yet';
}

/** The text in pieces, with the words that were found marked. */
function Segments({ of }: { of: Json<'segments'> }) {
  return of.map(({ text, hit }, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: a piece of a text is identified by its position.
    hit ? <mark key={place}>{text}</mark> : <span key={place}>{text}</span>,
  );
}

function Mark({ Icon, text }: { Icon: typeof IconWorld; text: string }) {
  return (
    <Badge
      variant="light"
      size="sm"
      radius="sm"
      tt="none"
      fw={600}
      leftSection={<Icon size={12} aria-hidden />}
    >
      {text}
    </Badge>
  );
}

/** Loads the next page when the reader is near the end of the list. The button does the same from the keyboard. */
function ListEnd({ list }: { list: ThreadList }) {
  const end = useRef<HTMLDivElement>(null);
  const { hasMore, isSearching, loadMore, error } = list;
  const mayLoad = hasMore && !isSearching && error === null;
  useEffect(() => {
    if (!mayLoad || end.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && loadMore(),
      { rootMargin: '600px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [mayLoad, loadMore]);
  if (!hasMore) return list.isTruncated ? <Truncated /> : null;
  return (
    <div ref={end} className={classes.end}>
      <Button variant="default" onClick={loadMore} loading={isSearching}>
        Load more
      </Button>
    </div>
  );
}

function Truncated() {
  return (
    <Text size="sm" c="dimmed" ta="center" py="md">
      Older threads are not shown. Choose an account to narrow the list.
    </Text>
  );
}

export function focusFirstThread(): void {
  document.querySelector<HTMLElement>('[data-thread-row]')?.focus();
}

function moveWithArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const rows = [...document.querySelectorAll<HTMLElement>('[data-thread-row]')];
  const next = rows[rows.indexOf(event.currentTarget) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
