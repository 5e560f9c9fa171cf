import { Button, Text } from '@mantine/core';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '../api/request.ts';
import { Failure } from './failure.tsx';
import { Page } from './page.tsx';

/** In the place of a page that could not be shown. */
export function FailedPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  useEffect(() => {
    if (!(error instanceof ApiError)) console.error(error);
  }, [error]);
  if (error instanceof ApiError) {
    const retry = () => {
      reset();
      void router.invalidate();
    };
    return (
      <Page title="We couldn't load this page">
        <Failure error={error} onRetry={retry} />
      </Page>
    );
  }
  return <ReloadPage outdated={isOutdated(error)} />;
}

/** The same where the application's frame is missing, too. */
export function FailedAlone(props: ErrorComponentProps) {
  return (
    <main>
      <FailedPage {...props} />
    </main>
  );
}

/** A part of the application that is not there any more: a newer version was installed since this window was opened. */
function isOutdated(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|importing a module script|preload CSS/i.test(error.message)
  );
}

function ReloadPage({ outdated }: { outdated: boolean }) {
  return (
    <Page title={outdated ? 'A new version is available' : 'Something went wrong'}>
      <Text mb="md">
        {outdated
          ? 'Skein was updated since you opened this page. Reload to continue. Your drafts are saved.'
          : 'Something unexpected happened. Reload to continue. Your drafts are saved.'}
      </Text>
      <Button onClick={() => location.reload()}>Reload</Button>
    </Page>
  );
}
