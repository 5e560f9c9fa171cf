import { Button, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconMessagePlus, IconSearchOff, IconWorld } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** An empty list says what to do about it. */
export function NoThreads({ scope, isFiltered }: { scope: 'mine' | 'published'; isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty
        icon={<IconSearchOff aria-hidden />}
        title="No thread matches"
        text="Try fewer letters of the title, or look at any account."
        action={
          <Button component={Link} to={scope === 'mine' ? '/' : '/published'} variant="default">
            Show all threads
          </Button>
        }
      />
    );
  }
  if (scope === 'published') {
    return (
      <Empty
        icon={<IconWorld aria-hidden />}
        title="Nothing is published yet"
        text="Open one of your threads and publish it: everyone in the organization can then read it here."
        action={
          <Button component={Link} to="/" variant="default">
            Go to your threads
          </Button>
        }
      />
    );
  }
  return (
    <Empty
      icon={<IconMessagePlus aria-hidden />}
      title="Ask your first question"
      text="A thread is a question, its reply and what follows. Replies draw on your organization’s documents."
      action={
        <Button component={Link} to="/new">
          New thread
        </Button>
      }
    />
  );
}

interface EmptyProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly text: string;
  readonly action: ReactNode;
}

function Empty({ icon, title, text, action }: EmptyProps) {
  return (
    <Stack align="center" gap="sm" py={56} ta="center">
      <ThemeIcon size={48} radius="xl" variant="light">
        {icon}
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed" maw="26rem">
        {text}
      </Text>
      {action}
    </Stack>
  );
}
