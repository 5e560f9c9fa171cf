import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, request } from '../api/request.ts';
import { announce } from '../app/announcer.tsx';
import { Confirm } from '../app/confirm.tsx';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization, useSession } from '../app/session.tsx';
import { passwordHint, passwordLengthMin } from '../sign-in/password-strength.tsx';
import { PendingInvitations } from '../sign-in/pending-invitations.tsx';
import { Section } from './section.tsx';

/** The settings of the person, which are the same in every organization. */
export function AccountPage() {
  const { user, organizations, invitations, proof } = useSession();
  const current = useOrganization();
  return (
    <Page title="Your account" description={user.email}>
      <Stack gap="lg">
        <Section title="Organizations">
          <Stack gap={4}>
            {organizations.map(({ id, name, role }) => (
              <Text key={id} size="sm">
                {name}: {role}
                {id === current.id && organizations.length > 1 && ' (current)'}
              </Text>
            ))}
          </Stack>
        </Section>
        {invitations.length > 0 && (
          <Section title="Invitations">
            <PendingInvitations />
          </Section>
        )}
        {proof === 'password' && <PasswordForm email={user.email} />}
        <SignOutEverywhere />
      </Stack>
    </Page>
  );
}

function PasswordForm({ email }: { email: string }) {
  const [changed, setChanged] = useState(false);
  const form = useForm({
    initialValues: { current: '', next: '', again: '' },
    validate: {
      current: (current) => (current === '' ? 'Enter your current password' : null),
      next: (next) =>
        [...next].length < passwordLengthMin ? `At least ${passwordLengthMin} characters` : null,
      again: (again, { next }) => (again === next ? null : 'The passwords don’t match'),
    },
  });
  const change = useMutation<unknown, ApiError, { current: string; next: string }>({
    mutationFn: (body) => request('POST', '/password', { body }),
    onSuccess: () => {
      form.reset();
      setChanged(true);
      announce('Password changed');
    },
  });
  const submit = form.onSubmit(({ current, next }) => {
    setChanged(false);
    change.mutate({ current, next });
  });
  return (
    <Section title="Password">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm" maw={420}>
          {/* Tells password managers whose password it is. */}
          <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            {...form.getInputProps('current')}
          />
          <PasswordInput
            label="New password"
            description={passwordHint}
            autoComplete="new-password"
            {...form.getInputProps('next')}
          />
          <PasswordInput
            label="Confirm new password"
            autoComplete="new-password"
            {...form.getInputProps('again')}
          />
          {change.isError && <Failure error={change.error} title="Couldn’t change the password" />}
          {changed && (
            <Alert color="teal" variant="light">
              Password changed. You have been signed out everywhere else.
            </Alert>
          )}
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function SignOutEverywhere() {
  const [asking, setAsking] = useState(false);
  return (
    <Section title="Sessions">
      <Text size="sm" mb="md">
        Lost a device or left one signed in? End all your sessions, including this one.
      </Text>
      <Button variant="default" onClick={() => setAsking(true)}>
        Sign out everywhere
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Sign out everywhere?"
        confirmLabel="Sign out everywhere"
        destructive
        onConfirm={async () => {
          await request('POST', '/sign-out-everywhere');
          // Loads a fresh page, so that nothing of this person stays in memory.
          location.assign('/sign-in');
        }}
      >
        <Text size="sm">
          You’ll need to sign in again in every browser, including this one. API keys keep working.
        </Text>
      </Confirm>
    </Section>
  );
}
