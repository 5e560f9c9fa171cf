import { List, Text } from '@mantine/core';
import type { Json } from '../api/contract.ts';
import { Confirm } from '../app/confirm.tsx';
import { useOrganization } from '../app/session.tsx';
import type { ThreadChanges } from './thread-changes.ts';
import { hasEarlierVersions } from './versions.ts';

interface PublishDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly isPublished: boolean;
  readonly messages: readonly Json<'message'>[];
  readonly publish: ThreadChanges['publish'];
}

/** Explains who will see the thread before it is published. */
export function PublishDialog({ opened, onClose, isPublished, messages, publish }: PublishDialogProps) {
  const { name } = useOrganization();
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={isPublished ? 'Unpublish this thread?' : 'Publish this thread?'}
      confirmLabel={isPublished ? 'Unpublish' : 'Publish'}
      onConfirm={() => publish.mutateAsync(!isPublished)}
    >
      {isPublished ? (
        <Text size="sm">
          Only you will be able to see it. Other people in {name}, org-wide keys and applications lose access,
          even with the link.
        </Text>
      ) : (
        <>
          <Text size="sm" mb="xs">
            Who can read this thread, including future replies:
          </Text>
          <List size="sm" mb="xs">
            <List.Item>
              everyone in <strong>{name}</strong>
            </List.Item>
            <List.Item>its org-wide API keys and its applications</List.Item>
          </List>
          {hasEarlierVersions(messages) && (
            <Text size="sm" mb="xs">
              They can also read the earlier versions of prompts you edited and replies you regenerated.
            </Text>
          )}
          <Text size="sm">Only you can change it. You can unpublish it at any time.</Text>
        </>
      )}
    </Confirm>
  );
}
