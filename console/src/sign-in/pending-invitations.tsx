import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Json } from '../api/contract.ts';
import { keys } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { announce } from '../app/announcer.tsx';
import { Failure } from '../app/failure.tsx';
import { switchOrganization, useSession } from '../app/session.tsx';

type Invitation = Json<'session'>['invitations'][number];

/** Organizations that have added the person, who cannot enter them before accepting. */
export function PendingInvitations({ onJoined }: { onJoined?: () => void }) {
  const { invitations } = useSession();
  const queryClient = useQueryClient();
  const joining = useMutation({
    mutationFn: ({ id }: Invitation) =>
      request<Json<'session'>>('POST', `/invitations/${encodeURIComponent(id)}/accept`),
    onSuccess: (session, { id, name }) => {
      queryClient.setQueryData(keys.session, session);
      switchOrganization(id);
      announce(`You joined ${name}`);
      onJoined?.();
    },
  });
  return (
    <Stack gap="sm">
      {invitations.map((invitation) => (
        <Group key={invitation.id} justify="space-between" wrap="nowrap">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {invitation.name}
          </Text>
          <Button
            variant="default"
            aria-label={`Join ${invitation.name}`}
            loading={joining.isPending && joining.variables.id === invitation.id}
            onClick={() => joining.mutate(invitation)}
          >
            Join
          </Button>
        </Group>
      ))}
      {joining.isError && <Failure error={joining.error} title="Couldn’t join" />}
    </Stack>
  );
}
