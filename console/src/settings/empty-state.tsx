import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Says what an empty page will show, and how to fill it. */
export function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="xl" ta="center">
      <Stack gap={6} align="center">
        <Text fw={600}>{title}</Text>
        <Text component="div" size="sm" c="dimmed" maw="min(46ch, 100%)" style={{ textWrap: 'balance' }}>
          {children}
        </Text>
      </Stack>
    </Paper>
  );
}
