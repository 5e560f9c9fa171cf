import { Group, Paper, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

interface SectionProps {
  readonly title: string;
  /** Beside the heading. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page, in a frame under its own heading. */
export function Section({ title, aside, children }: SectionProps) {
  const id = useId();
  return (
    <Paper withBorder p={{ base: 'sm', xs: 'lg' }} h="100%" component="section" aria-labelledby={id}>
      <Group justify="space-between" align="baseline" mb="xs">
        <Title order={2} id={id}>
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Paper>
  );
}
