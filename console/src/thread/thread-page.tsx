import { Alert } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { IconEye } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useRef } from 'react';
import type { Json } from '../api/contract.ts';
import { NotFound } from '../app/fallback-pages.tsx';
import { useOrganization, useSession } from '../app/session.tsx';
import { shownTitle } from '../threads/shown-title.ts';
import { useDeleteThread } from './delete-thread.tsx';
import { buildDraftName } from './draft.ts';
import { Messages } from './messages.tsx';
import classes from './thread.module.css';
import { useThreadChanges } from './thread-changes.ts';
import { ThreadDock } from './thread-dock.tsx';
import { ThreadHeader } from './thread-header.tsx';
import { ThreadSkeleton } from './thread-skeleton.tsx';
import { isRunning, latestReply } from './thread-state.ts';
import { useAnnouncedReply } from './use-announced-reply.ts';
import { useFollowEnd } from './use-follow-end.ts';
import { type FollowedThread, useThread } from './use-thread.ts';

export function ThreadPage() {
  const { threadId } = useParams({ from: '/signedIn/threads/$threadId' });
  const organization = useOrganization();
  return (
    <FollowThread
      key={`${organization.id} ${threadId}`}
      organizationId={organization.id}
      threadId={threadId}
    />
  );
}

function FollowThread({ organizationId, threadId }: { organizationId: string; threadId: string }) {
  const followed = useThread(organizationId, threadId);
  if (followed.view === null) return followed.isGone ? <NotFound what="Thread" /> : <ThreadSkeleton />;
  return <Thread organizationId={organizationId} view={followed.view} followed={followed} />;
}

interface ThreadProps {
  readonly organizationId: string;
  readonly view: Json<'threadView'>;
  readonly followed: FollowedThread;
}

function Thread({ organizationId, view, followed }: ThreadProps) {
  const { thread } = view;
  const { user } = useSession();
  const changes = useThreadChanges(organizationId, thread.id, followed);
  const deletion = useDeleteThread(organizationId, thread);
  const reply = latestReply(view);
  const content = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const end = useFollowEnd(content, isRunning(reply));
  useDocumentTitle(`${shownTitle(thread.title)} · Skein`);
  useAnnouncedReply(reply);

  const retry = async () => {
    await changes.retry.mutateAsync();
    // The retry button disappears, and the focus would be lost with it.
    field.current?.focus({ preventScroll: true });
  };
  const edit = async (prompt: string, replaces: string) => {
    await changes.edit.mutateAsync({ prompt, replaces });
    field.current?.focus({ preventScroll: true });
  };
  // The person who deletes the thread is already on the way to the list.
  if (followed.isGone && !deletion.isPending && !deletion.isSuccess) return <NotFound what="Thread" />;
  return (
    <div className={classes.page}>
      <div ref={content} className={classes.column}>
        <ThreadHeader view={view} changes={changes} deletion={deletion} />
        {!thread.mine && <ReadOnlyBanner author={thread.createdBy} />}
        <Messages
          view={view}
          clockAheadMs={followed.clockAheadMs}
          onRetry={thread.mine ? retry : undefined}
          onEdit={thread.mine && !isRunning(reply) ? edit : undefined}
        />
      </div>
      <ThreadDock
        draftName={thread.mine ? buildDraftName(user.id, organizationId, thread.id) : null}
        view={view}
        changes={changes}
        isRunning={isRunning(reply)}
        isLive={followed.isLive}
        end={end}
        fieldRef={field}
      />
    </div>
  );
}

function ReadOnlyBanner({ author }: { author: string }) {
  return (
    <Alert variant="light" color="gray" icon={<IconEye aria-hidden />} className={classes.banner} role="note">
      Published by {author}. You can read it; only they can change it.
    </Alert>
  );
}
