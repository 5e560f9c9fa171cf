import { Badge, type BadgeProps, Button, type ButtonProps, Text } from '@mantine/core';
import { type ComponentProps, Fragment } from 'react';
import { formatDate, formatDateTime, formatTime } from '../app/format-time.ts';
import classes from './data-table.module.css';

/** An address with a line break allowed after its @. */
export function Email({ address }: { address: string }) {
  return breakable(address, /(?<=@)/);
}

/** A name that a person chose, which may be one long word. */
export function Name({ name }: { name: string }) {
  return (
    <Text component="div" inherit lineClamp={3} title={name} className={classes.name}>
      {name}
    </Text>
  );
}

/** A name such as INVALID_PARAMS, with line breaks allowed between its words. */
export function BreakableName({ name }: { name: string }) {
  return breakable(name, /(?<=_)/);
}

function breakable(text: string, where: RegExp) {
  return text.split(where).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is identified by its position.
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** A time in the reader's time zone. Without `exact` only the day is shown, and the full time on hover. */
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
    <time dateTime={iso} title={formatDateTime(time)} className={exact ? undefined : classes.day}>
      {exact ? (
        <>
          <span className={classes.whole}>{formatDate(time)},</span>{' '}
          <span className={classes.whole}>{formatTime(time)}</span>
        </>
      ) : (
        formatDate(time)
      )}
    </time>
  );
}

export function StateBadge(props: BadgeProps & { title?: string | undefined }) {
  return <Badge tt="none" miw="max-content" variant="light" {...props} />;
}

/** A small button in a row. Its `aria-label` names the row. */
export function RowButton(props: ButtonProps & ComponentProps<'button'> & { 'aria-label': string }) {
  return <Button size="xs" variant="default" {...props} />;
}
