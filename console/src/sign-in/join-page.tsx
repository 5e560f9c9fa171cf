import { Button, Stack, Text } from '@mantine/core';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useSignOut } from '../app/account-menu.tsx';
import { useSession } from '../app/session.tsx';
import { PendingInvitations } from './pending-invitations.tsx';
import { SignInLayout } from './sign-in-layout.tsx';

/** For a person who has signed in and has not accepted any organization's invitation yet. */
export function JoinPage() {
  const { user, invitations } = useSession();
  const { returnTo = '/' } = useSearch({ from: '/join' });
  const router = useRouter();
  const navigate = useNavigate();
  const signingOut = useSignOut();
  return (
    <SignInLayout title="Your invitations">
      <Stack>
        <Text size="sm">
          You’re signed in as {user.email}.{' '}
          {invitations.length === 0
            ? 'You have no invitations.'
            : 'Only join organizations you know. Their admins can see what you publish there.'}
        </Text>
        <PendingInvitations onJoined={() => router.history.replace(returnTo)} />
        {invitations.length === 0 && (
          <Button onClick={() => void navigate({ to: '/' })}>Go to my threads</Button>
        )}
        <Button variant="subtle" loading={signingOut.isPending} onClick={() => signingOut.mutate()}>
          Sign out
        </Button>
      </Stack>
    </SignInLayout>
  );
}
