import { ActionIcon, Badge, type BadgeProps, Button, Menu, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useWindowEvent } from '@mantine/hooks';
import {
  IconBuilding,
  IconCheck,
  IconDots,
  IconDownload,
  IconLink,
  IconLock,
  IconPencil,
  IconTrash,
  IconWorld,
  IconWorldOff,
} from '@tabler/icons-react';
import { useState } from 'react';
import type { Json } from '../api/contract.ts';
import { CopyButton, useCopy } from '../app/copy-button.tsx';
import { RelativeTime } from '../app/relative-time.tsx';
import { shownTitle } from '../threads/shown-title.ts';
import type { ThreadDeletion } from './delete-thread.tsx';
import { PublishDialog } from './publish-dialog.tsx';
import classes from './thread.module.css';
import type { ThreadChanges } from './thread-changes.ts';
import { buildFileName, threadMarkdown } from './thread-markdown.ts';
import { ThreadTitle } from './thread-title.tsx';

interface ThreadHeaderProps {
  readonly view: Json<'threadView'>;
  readonly changes: ThreadChanges;
  readonly deletion: ThreadDeletion;
}

export function ThreadHeader({ view, changes, deletion }: ThreadHeaderProps) {
  const { thread } = view;
  const [isEditing, setEditing] = useState(false);
  useWindowEvent('keydown', (event) => {
    if (event.key !== 'F2' || !thread.mine || event.defaultPrevented) return;
    event.preventDefault();
    setEditing(true);
  });
  return (
    <header className={classes.header}>
      <div className={classes.titleRow}>
        {thread.mine ? (
          <ThreadTitle
            title={thread.title}
            rename={changes.rename}
            isEditing={isEditing}
            onEditing={setEditing}
          />
        ) : (
          <h1 className={classes.title} dir="auto">
            {shownTitle(thread.title)}
          </h1>
        )}
        <div className={classes.actions}>
          {thread.mine ? (
            <OwnActions view={view} changes={changes} deletion={deletion} onRename={() => setEditing(true)} />
          ) : (
            <>
              <CopyButton compact value={linkTo(thread.id)} label="Copy link" />
              <Menu position="bottom-end" width={220}>
                <Menu.Target>
                  <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Export thread">
                    <IconDownload size={18} aria-hidden />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <ExportItems view={view} />
                </Menu.Dropdown>
              </Menu>
            </>
          )}
        </div>
      </div>
      <About thread={thread} />
    </header>
  );
}

function About({ thread }: { thread: Json<'threadView'>['thread'] }) {
  return (
    <div className={classes.about}>
      {thread.published ? (
        <AboutBadge Icon={IconWorld} color="indigo" fw={600}>
          Published
        </AboutBadge>
      ) : (
        <AboutBadge Icon={IconLock}>Only you</AboutBadge>
      )}
      {thread.accountId !== null && (
        <AboutBadge Icon={IconBuilding} maw="min(100%, 20rem)">
          <VisuallyHidden>Account </VisuallyHidden>
          {thread.accountId}
        </AboutBadge>
      )}
      <span>
        Started <RelativeTime at={thread.createdAt} />
      </span>
    </div>
  );
}

function AboutBadge({ Icon, ...props }: BadgeProps & { Icon: typeof IconWorld }) {
  const icon = <Icon size={13} aria-hidden />;
  return <Badge variant="light" color="gray" radius="sm" tt="none" fw={500} leftSection={icon} {...props} />;
}

/** A closing menu restores the focus after 10 ms, which would take it from the field. */
const menuFocusMs = 50;

function OwnActions({ view, changes, deletion, onRename }: ThreadHeaderProps & { onRename: () => void }) {
  const { thread } = view;
  const [isPublishing, publishing] = useDisclosure(false);
  const publishLabel = thread.published ? 'Unpublish' : 'Publish';
  const PublishIcon = thread.published ? IconWorldOff : IconWorld;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        className={classes.wideOnly}
        leftSection={<PublishIcon size={16} aria-hidden />}
        onClick={publishing.open}
      >
        {publishLabel}
      </Button>
      <span className={classes.wideOnly}>
        <CopyButton compact value={linkTo(thread.id)} label="Copy link" />
      </span>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label="More actions"
            loading={deletion.isPending}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconPencil size={16} aria-hidden />}
            onClick={() => setTimeout(onRename, menuFocusMs)}
          >
            Rename
          </Menu.Item>
          <CopyLinkItem threadId={thread.id} />
          <Menu.Item
            leftSection={<PublishIcon size={16} aria-hidden />}
            onClick={() => setTimeout(publishing.open, menuFocusMs)}
          >
            {publishLabel}…
          </Menu.Item>
          <Menu.Divider />
          <ExportItems view={view} />
          <Menu.Divider />
          <Menu.Item
            c="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => deletion.mutate()}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <PublishDialog
        opened={isPublishing}
        onClose={publishing.close}
        isPublished={thread.published}
        messages={view.messages}
        publish={changes.publish}
      />
    </>
  );
}

/** The menu stays open, so that the person sees whether it worked. */
function CopyLinkItem({ threadId }: { threadId: string }) {
  const { outcome, copy } = useCopy(linkTo(threadId));
  const Icon = outcome === 'Copied' ? IconCheck : IconLink;
  return (
    <Menu.Item leftSection={<Icon size={16} aria-hidden />} closeMenuOnClick={false} onClick={copy}>
      {outcome ?? 'Copy link'}
    </Menu.Item>
  );
}

function ExportItems({ view }: { view: Json<'threadView'> }) {
  const icon = <IconDownload size={16} aria-hidden />;
  return (
    <>
      <Menu.Item leftSection={icon} onClick={() => exportThread(view, 'md')}>
        Export as Markdown
      </Menu.Item>
      <Menu.Item leftSection={icon} onClick={() => exportThread(view, 'json')}>
        Export as JSON
      </Menu.Item>
    </>
  );
}

function linkTo(threadId: string): string {
  return `${location.origin}/threads/${encodeURIComponent(threadId)}`;
}

/** Downloads the thread. JSON has every message; Markdown the current version of each. */
function exportThread(view: Json<'threadView'>, format: 'md' | 'json'): void {
  const { thread, messages } = view;
  const isJson = format === 'json';
  const parts = isJson
    ? [JSON.stringify({ thread, messages }, undefined, 2), '\n']
    : [...threadMarkdown(view)];
  const type = isJson ? 'application/json' : 'text/markdown;charset=utf-8';
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = buildFileName(thread.title, format);
  link.click();
  // The download has its own reference by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
