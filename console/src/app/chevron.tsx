import { IconChevronRight } from '@tabler/icons-react';
import classes from './chevron.module.css';

/** Points to the right, and down once the part below is open. */
export function Chevron({ opened, size = 16 }: { opened: boolean; size?: number }) {
  return (
    <IconChevronRight size={size} aria-hidden className={classes.chevron} data-opened={opened || undefined} />
  );
}
