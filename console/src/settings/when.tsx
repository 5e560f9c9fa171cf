import { Text } from '@mantine/core';

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time in the reader's zone: the day alone where `exact` is not asked for, and then all of it on pointing at it. */
export function When({
  iso,
  never = 'Never',
  exact = false,
}: {
  iso: string | null;
  never?: string;
  exact?: boolean;
}) {
  if (iso === null) {
    return (
      <Text span size="sm" c="dimmed">
        {never}
      </Text>
    );
  }
  const time = new Date(iso);
  return (
    <time dateTime={iso} title={moment.format(time)}>
      {(exact ? moment : day).format(time)}
    </time>
  );
}
