import { Alert, Anchor, Button, PasswordInput, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { IconMailOff } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { signInOfferOptions } from '../api/queries.ts';
import { ApiError, request } from '../api/request.ts';
import { Failure } from '../app/failure.tsx';
import { switchOrganization } from '../app/session.tsx';
import { PasswordStrength, passwordHint } from './password-strength.tsx';
import { SignInLayout } from './sign-in-layout.tsx';
import { SingleSignOn } from './single-sign-on.tsx';
import { useStartSession } from './start-session.ts';
import { TooManyAttempts } from './too-many-attempts.tsx';

/** The token is in the URL fragment, which browsers do not send, so that it appears in no log. */
export function InvitationPage() {
  const token = useToken();
  const reading = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) =>
      request<Json<'invitation'>>('POST', '/invitation/read', {
        body: { token } satisfies Json<'invitationBody'>,
        signal,
      }),
    enabled: token !== '',
    // After it was accepted, it cannot be read again.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  if (token === '' || isGone(reading.error)) return <Gone />;
  return (
    <SignInLayout title={chooseTitle(reading.data)}>
      {reading.isError ? (
        <Failure
          error={reading.error}
          title="Couldn’t open the link"
          onRetry={() => void reading.refetch()}
        />
      ) : reading.data ? (
        <Ways key={token} token={token} invitation={reading.data} />
      ) : (
        <Stack aria-busy="true">
          <Skeleton height={58} />
          <Skeleton height={58} />
          <Skeleton height={36} />
        </Stack>
      )}
    </SignInLayout>
  );
}

function chooseTitle(invitation: Json<'invitation'> | undefined): string {
  if (invitation === undefined) return 'Opening your link';
  return invitation.resets ? 'Choose a new password' : `Join ${invitation.organization}`;
}

/** Also handles another link opened in the same window: browsers do not reload a page when only the fragment changes. */
function useToken(): string {
  const [token, setToken] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const change = () => setToken(location.hash.slice(1));
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return token;
}

function isGone(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 400);
}

function Gone() {
  const { data } = useQuery(signInOfferOptions);
  return (
    <SignInLayout title="This link is no longer valid">
      <Stack>
        <Alert color="yellow" variant="light" icon={<IconMailOff aria-hidden />}>
          It may be incomplete, or it may have expired, been used or been replaced by a newer one. If you
          already set a password, sign in.
        </Alert>
        <Text size="sm">
          <strong>To join an organization:</strong> ask one of its admins for a new link.
        </Text>
        <Text size="sm">
          <strong>To choose a new password:</strong>{' '}
          {data?.passwordLinks !== false ? (
            <Anchor component={Link} to="/forgot-password" inherit>
              request a new link
            </Anchor>
          ) : (
            'ask the operator of this service for a new link.'
          )}
        </Text>
        <Button component={Link} to="/sign-in" variant="default">
          Go to sign in
        </Button>
      </Stack>
    </SignInLayout>
  );
}

/** People who sign in with a provider accept on the next page: the provider proves who they are. */
function Ways({ token, invitation }: { token: string; invitation: Json<'invitation'> }) {
  const { email, organization, password, resets } = invitation;
  if (password === 'choose' || password === 'prove') {
    return (
      <Stack>
        {!resets && <SingleSignOn returnTo="/join" alternative="or with a password" />}
        <Accept token={token} invitation={invitation} />
      </Stack>
    );
  }
  return (
    <Stack>
      <Text size="sm">
        {password === 'sso'
          ? `${email} signs in with an identity provider. Continue there, then accept the invitation.`
          : `${email} already has threads or an API key in ${organization}. This link no longer works, because the admin who created it could have used it, too. Ask the operator of this service for a link.`}
      </Text>
      <SingleSignOn returnTo="/join" />
    </Stack>
  );
}

function Accept({ token, invitation }: { token: string; invitation: Json<'invitation'> }) {
  const startSession = useStartSession();
  const [password, setPassword] = useState('');
  const accepting = useMutation({
    mutationFn: (body: Json<'acceptInvitationBody'>) =>
      request<Json<'session'>>('POST', '/invitation/accept', { body }),
    onSuccess: (session) => {
      startSession(session, '/');
      enterOrganization(session, invitation.organization);
    },
  });
  const { resets } = invitation;
  const chooses = invitation.password === 'choose';
  const fault = passwordFault(accepting.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accepting.mutate({ token, password });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">
          {resets
            ? resetConsequences(invitation)
            : chooses
              ? 'Choose a password. If you already have a Skein password, enter that one.'
              : 'You already have a password. Enter it to join.'}
        </Text>
        <TextInput
          label="Email"
          name="email"
          autoComplete="username"
          value={invitation.email}
          readOnly
          variant="filled"
        />
        <PasswordInput
          label={chooses ? 'New password' : 'Your password'}
          {...(chooses && {
            description: passwordHint,
          })}
          name="password"
          autoComplete={chooses ? 'new-password' : 'current-password'}
          required
          withAsterisk={false}
          autoFocus
          error={fault}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {chooses && <PasswordStrength password={password} />}
        {accepting.isError && fault === null && <Refused error={accepting.error} resets={resets} />}
        <Button type="submit" loading={accepting.isPending}>
          {resets ? 'Set password' : chooses ? 'Set password and join' : 'Join'}
        </Button>
      </Stack>
    </form>
  );
}

function resetConsequences({ endsKeys, endsMemberships }: Json<'invitation'>): string {
  const keys = endsKeys ? ', and API keys created with the old password stop working' : '';
  const signedOut = `You’ll be signed out everywhere else${keys}.`;
  if (endsMemberships === 0) return signedOut;
  const [others, have] =
    endsMemberships === 1
      ? ['Your other organization', 'has']
      : [`Your ${endsMemberships} other organizations`, 'have'];
  return `${signedOut} ${others} ${have} to invite you again.`;
}

/** Switches to the organization the person was invited to, unless two of their organizations have that name. */
function enterOrganization({ organizations }: Json<'session'>, name: string): void {
  const [only, ...others] = organizations.filter((organization) => organization.name === name);
  if (only !== undefined && others.length === 0) switchOrganization(only.id);
}

/** The service's message about the password: "The password must …". */
function passwordFault(error: Error | null): string | null {
  const isFault = error instanceof ApiError && error.message.startsWith('The password ');
  return isFault ? error.message : null;
}

function Refused({ error, resets }: { error: Error; resets: boolean }) {
  return error instanceof ApiError && error.status === 429 ? (
    <TooManyAttempts error={error} />
  ) : (
    <Failure error={error} title={resets ? 'Couldn’t set the password' : 'Couldn’t join'} />
  );
}
