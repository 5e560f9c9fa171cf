import { Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import classes from './page.module.css';

interface PageProps {
  readonly title: string;
  /** One sentence below the heading. */
  readonly description?: ReactNode;
  /** Buttons next to the heading. */
  readonly actions?: ReactNode;
  /** `wide` for tables. */
  readonly width?: 'text' | 'wide';
  readonly children: ReactNode;
}

/** The frame of a page: its `h1`, the title of the window, and its contents in a column. */
export function Page({ title, description, actions, width = 'text', children }: PageProps) {
  useDocumentTitle(`${title} · Skein`);
  return (
    <div className={classes.page} data-width={width}>
      <Group justify="space-between" align="flex-start" wrap="wrap" gap="sm" mb="lg">
        <Stack gap={4} className={classes.heading}>
          <Title order={1}>{title}</Title>
          {description !== undefined && (
            <Text component="div" size="sm" c="dimmed">
              {description}
            </Text>
          )}
        </Stack>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </div>
  );
}
