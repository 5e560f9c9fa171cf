import { Button, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Page } from './page.tsx';

export function NotFoundPage() {
  return (
    <Page title="Nothing is here">
      <Text mb="md">
        What you are looking for was deleted, was never here, or is not published to you. If somebody sent you
        the link, ask them to publish the thread.
      </Text>
      <Button component={Link} to="/" variant="default">
        Go to your threads
      </Button>
    </Page>
  );
}
