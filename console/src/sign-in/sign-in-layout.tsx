import { Anchor, Paper, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { SkeinMark } from '../app/skein-mark.tsx';
import classes from './sign-in-layout.module.css';

/** The layout of pages for people who are not signed in: a card in the middle. */
export function SignInLayout({ title, children }: { title: string; children: ReactNode }) {
  useDocumentTitle(`${title} · Skein`);
  return (
    <main className={classes.layout}>
      <div className={classes.brand}>
        <SkeinMark size={40} />
        <Text span fw={650} fz="xl">
          Skein
        </Text>
      </div>
      <Paper withBorder shadow="sm" radius="lg" className={classes.card}>
        <Title order={1} size="h2" mb="md">
          {title}
        </Title>
        {children}
      </Paper>
      <Text size="xs" c="dimmed">
        <Anchor href="/docs" inherit>
          Documentation
        </Anchor>
      </Text>
    </main>
  );
}
