import { Group, Progress, Text } from '@mantine/core';
import type { PasswordLengthMin } from '../api/contract.ts';

export const passwordLengthMin: PasswordLengthMin = 10;
export const passwordHint = `At least ${passwordLengthMin} characters. A few unrelated words work well.`;

const grades = [
  { label: 'Too short', percent: 20, color: 'red' },
  { label: 'Weak', percent: 40, color: 'orange' },
  { label: 'Good', percent: 70, color: 'teal' },
  { label: 'Strong', percent: 100, color: 'teal' },
] as const;

/** A hint, as a word and a bar. The service decides. */
export function PasswordStrength({ password }: { password: string }) {
  const grade = grades[strength(password)];
  return (
    <Group gap="xs" wrap="nowrap" aria-hidden={password === ''} opacity={password === '' ? 0 : 1}>
      <Progress value={grade.percent} color={grade.color} flex={1} aria-hidden />
      <Text size="xs" w="4.5rem" ta="end" role="status">
        {password === '' ? '' : grade.label}
      </Text>
    </Group>
  );
}

/** Grades a password by its length and by the number of different characters. */
function strength(password: string): 0 | 1 | 2 | 3 {
  const characters = [...password];
  if (characters.length < passwordLengthMin) return 0;
  const different = new Set(characters).size;
  if (different < 6) return 1;
  if (characters.length >= 16 && different >= 8) return 3;
  return characters.length >= 12 ? 2 : 1;
}
