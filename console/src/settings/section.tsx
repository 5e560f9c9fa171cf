import { Paper, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A part of a page, in a frame under its own heading. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <Paper withBorder p={{ base: 'sm', xs: 'lg' }} h="100%" component="section" aria-labelledby={id}>
      <Title order={2} id={id} mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}
