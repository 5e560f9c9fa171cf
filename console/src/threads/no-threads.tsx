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
        title="No matching threads"
        text="Try fewer words, or remove a filter."
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
        title="No published threads yet"
        text="Publish one of your threads so everyone in the organization can read it here."
        action={
          <Button component={Link} to="/" variant="default">
            Go to my threads
          </Button>
        }
      />
    );
  }
  return (
    <Empty
      icon={<IconMessagePlus aria-hidden />}
      title="Ask your first question"
      text="A thread is a question, its reply and any follow-ups. Replies are based on your organization’s documents."
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
