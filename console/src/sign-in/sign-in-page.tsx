import { Alert, Anchor, Button, PasswordInput, Stack } from '@mantine/core';
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { ApiError, request } from '../api/request.ts';
import { Failure } from '../app/failure.tsx';
import { EmailInput } from './email-input.tsx';
import { problemText } from './problem-text.ts';
import { SignInLayout } from './sign-in-layout.tsx';
import { SingleSignOn } from './single-sign-on.tsx';
import { useStartSession } from './start-session.ts';
import { TooManyAttempts } from './too-many-attempts.tsx';

export function SignInPage() {
  const { returnTo = '/', problem } = useSearch({ from: '/sign-in' });
  const [hasSubmitted, setSubmitted] = useState(false);
  return (
    <SignInLayout title="Sign in">
      <Stack>
        {problem !== undefined && !hasSubmitted && <Notice problem={problem} />}
        <SingleSignOn returnTo={returnTo} alternative="or with your password" />
        <PasswordForm returnTo={returnTo} onSubmit={() => setSubmitted(true)} />
      </Stack>
    </SignInLayout>
  );
}

/** Why the person is here. The end of a session is expected; everything else went wrong. */
function Notice({ problem }: { problem: string }) {
  const isExpected = problem === 'session-ended';
  const Icon = isExpected ? IconInfoCircle : IconAlertTriangle;
  return (
    <Alert role="alert" color={isExpected ? 'indigo' : 'red'} variant="light" icon={<Icon aria-hidden />}>
      {problemText(problem)}
    </Alert>
  );
}

/** `onSubmit` is called when the form is submitted. */
function PasswordForm({ returnTo, onSubmit }: { returnTo: string; onSubmit: () => void }) {
  const startSession = useStartSession();
  const password = useRef<HTMLInputElement>(null);
  const signingIn = useMutation({
    mutationFn: (body: Json<'signInBody'>) => request<Json<'session'>>('POST', '/sign-in', { body }),
    onSuccess: (session) => startSession(session, returnTo),
    onError: () => password.current?.select(),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit();
    const fields = new FormData(event.currentTarget);
    signingIn.mutate({ email: String(fields.get('email')), password: String(fields.get('password')) });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <EmailInput />
        <PasswordInput
          ref={password}
          name="password"
          label="Password"
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
        {signingIn.isError && <Refused error={signingIn.error} />}
        <Button type="submit" loading={signingIn.isPending}>
          Sign in
        </Button>
        <Anchor component={Link} to="/forgot-password" size="sm">
          Forgot password?
        </Anchor>
      </Stack>
    </form>
  );
}

function Refused({ error }: { error: Error }) {
  if (!(error instanceof ApiError)) return <Failure error={error} />;
  if (error.status === 429) return <TooManyAttempts error={error} />;
  if (error.status !== 401) return <Failure error={error} title="Couldn’t sign you in" />;
  return (
    <Alert role="alert" color="red" variant="light" icon={<IconAlertTriangle aria-hidden />}>
      {error.message}
    </Alert>
  );
}
