import { Button, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Page } from './page.tsx';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Text mb="md">It may have been deleted, or you may not have access.</Text>
      <Button component={Link} to="/" variant="default">
        Go to my threads
      </Button>
    </Page>
  );
}
