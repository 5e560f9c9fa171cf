import { Button, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconMessagePlus, IconSearchOff, IconWorld } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

const cases = {
  filtered: {
    Icon: IconSearchOff,
    title: 'No matching threads',
    text: 'Try fewer words, or remove a filter.',
    action: 'Show all threads',
  },
  published: {
    Icon: IconWorld,
    title: 'No published threads yet',
    text: 'Publish one of your threads so everyone in the organization can read it here.',
    action: 'Go to my threads',
  },
  mine: {
    Icon: IconMessagePlus,
    title: 'Ask your first question',
    text: 'A thread is a question, its reply and any follow-ups. Replies are based on your organization’s documents.',
    action: 'New thread',
  },
} as const;

/** Takes the place of an empty list and suggests what to do. */
export function NoThreads({ scope, isFiltered }: { scope: 'mine' | 'published'; isFiltered: boolean }) {
  const { Icon, title, text, action } = cases[isFiltered ? 'filtered' : scope];
  const isNew = scope === 'mine' && !isFiltered;
  const to = isNew ? '/new' : isFiltered && scope === 'published' ? '/published' : '/';
  return (
    <Stack align="center" gap="sm" py={56} ta="center">
      <ThemeIcon size={48} radius="xl" variant="light">
        <Icon aria-hidden />
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed" maw="26rem">
        {text}
      </Text>
      <Button component={Link} to={to} variant={isNew ? 'filled' : 'default'}>
        {action}
      </Button>
    </Stack>
  );
}
