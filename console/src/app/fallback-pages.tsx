import { Button, Skeleton, Text, VisuallyHidden } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '../api/request.ts';
import { Failure } from './failure.tsx';
import classes from './page.module.css';
import { Page } from './page.tsx';

/** Shown instead of a page that failed. */
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
      <Page title="Couldn’t load this page">
        <Failure error={error} onRetry={retry} />
      </Page>
    );
  }
  return <ReloadPage isPartMissing={isPartMissing(error)} />;
}

/** The same without the sidebar and menus around it. */
export function FailedWithoutShell(props: ErrorComponentProps) {
  return (
    <main>
      <FailedPage {...props} />
    </main>
  );
}

/**
 * Whether a part of the application could not be loaded: a newer version was installed since this window was opened, or
 * the service cannot be reached.
 */
function isPartMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|importing a module script|preload CSS/i.test(error.message)
  );
}

function ReloadPage({ isPartMissing }: { isPartMissing: boolean }) {
  return (
    <Page title="Couldn’t load this page">
      <Text mb="md">
        {isPartMissing
          ? 'You may be offline, or Skein has been updated since you opened this window.'
          : 'Something unexpected happened.'}{' '}
        Reload to continue. Your drafts are saved.
      </Text>
      <Button onClick={() => location.reload()}>Reload</Button>
    </Page>
  );
}

export function NotFoundPage() {
  return <NotFound what="Page" why="There’s no page at this URL. Check it for typos." />;
}

interface NotFoundProps {
  readonly what: 'Page' | 'Thread' | 'Document';
  readonly why?: string;
}

export function NotFound({
  what,
  why = 'It may have been deleted, or you may not have access.',
}: NotFoundProps) {
  return (
    <Page title={`${what} not found`}>
      <Text mb="md">{why}</Text>
      <Button component={Link} to="/" variant="default">
        Go to my threads
      </Button>
    </Page>
  );
}

/** Shown while a page is loading, if that takes long. */
export function PendingPage() {
  return (
    <div className={classes.page} aria-busy="true">
      <VisuallyHidden>Loading</VisuallyHidden>
      <Skeleton height="1.75rem" width="min(14rem, 60%)" mb="xl" />
      <Skeleton height="0.9rem" mb="sm" />
      <Skeleton height="0.9rem" width="80%" mb="sm" />
      <Skeleton height="0.9rem" width="65%" />
    </div>
  );
}
