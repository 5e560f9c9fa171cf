import { Text } from '@mantine/core';
import { dayOf, momentOf } from '../app/time-words.ts';

/** A time in the reader's zone: the day alone where `exact` is not asked for, and then all of it on pointing at it. */
export function When({ iso, exact = false }: { iso: string | null; exact?: boolean }) {
  if (iso === null) {
    return (
      <Text span size="sm" c="dimmed">
        Never
      </Text>
    );
  }
  const time = new Date(iso);
  return (
    <time dateTime={iso} title={momentOf(time)}>
      {exact ? momentOf(time) : dayOf(time)}
    </time>
  );
}
