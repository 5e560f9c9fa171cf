import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import { IconEyeOff } from '@tabler/icons-react';
import { useId } from 'react';
import { CopyButton } from './copy-button.tsx';
import classes from './secret-shown-once.module.css';

interface SecretShownOnceProps {
  /** "API key", "Client secret", "Invitation link". */
  readonly label: string;
  readonly value: string;
  /** What to do with it. */
  readonly warning?: string;
}

/** A secret that the service does not keep, and so cannot show again. */
export function SecretShownOnce({
  label,
  value,
  warning = 'Copy it now. You won’t see it again.',
}: SecretShownOnceProps) {
  const id = useId();
  return (
    <Stack gap="xs">
      <Text id={id} size="sm" fw={600}>
        {label}
      </Text>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <section className={classes.value} aria-labelledby={id} data-testid="secret">
          {value}
        </section>
        <CopyButton value={value} label="Copy" />
      </Group>
      <Alert color="yellow" variant="light" icon={<IconEyeOff aria-hidden />} p="xs">
        {warning}
      </Alert>
    </Stack>
  );
}

/** A command that uses the secret, to try it. */
export function ShellCommand({ title, label, command }: { title: string; label: string; command: string }) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <CopyButton value={command} label="Copy command" />
      </Group>
      <Code block tabIndex={0} role="region" aria-label={label}>
        {command}
      </Code>
    </div>
  );
}
