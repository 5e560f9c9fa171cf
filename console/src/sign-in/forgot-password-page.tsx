import { Alert, Anchor, Button, Stack, Text } from '@mantine/core';
import { IconMailCheck } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { Json } from '../api/contract.ts';
import { signInOfferOptions } from '../api/queries.ts';
import { ApiError, request } from '../api/request.ts';
import { Failure } from '../app/failure.tsx';
import { EmailInput } from './email-input.tsx';
import { SignInLayout } from './sign-in-layout.tsx';
import { TooManyAttempts } from './too-many-attempts.tsx';

export function ForgotPasswordPage() {
  const { data, error, refetch } = useQuery(signInOfferOptions);
  return (
    <SignInLayout title="Forgot your password?">
      <Stack>
        {data?.passwordLinks ? (
          <RequestLink />
        ) : error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          data && <Text size="sm">Ask the operator of this service for a link to choose a new password.</Text>
        )}
        <Anchor component={Link} to="/sign-in" size="sm">
          Back to sign in
        </Anchor>
      </Stack>
    </SignInLayout>
  );
}

function RequestLink() {
  const requesting = useMutation({
    mutationFn: (body: Json<'passwordLinkBody'>) => request('POST', '/password-link', { body }),
  });
  const { error } = requesting;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    requesting.mutate({ email: String(new FormData(event.currentTarget).get('email')) });
  };
  if (requesting.isSuccess) {
    return (
      <Alert
        role="status"
        variant="light"
        icon={<IconMailCheck aria-hidden />}
        title="If the address belongs to an account, we’ve sent a link."
      >
        The link works for 30 minutes. If no email arrives, check your spam folder. People who sign in with an
        identity provider don’t get a link.
      </Alert>
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">Enter your email. We’ll send you a link to choose a new password.</Text>
        <EmailInput />
        {error instanceof ApiError && error.status === 429 ? (
          <TooManyAttempts error={error} of="requests" />
        ) : (
          error !== null && <Failure error={error} title="Couldn’t send the link" />
        )}
        <Button type="submit" loading={requesting.isPending}>
          Send link
        </Button>
      </Stack>
    </form>
  );
}
