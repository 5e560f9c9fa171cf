import { Skeleton, VisuallyHidden } from '@mantine/core';
import classes from './page.module.css';

/** In the place of a page that takes longer than a blink. */
export function PendingPage() {
  return (
    <div className={classes.page} aria-busy="true">
      <VisuallyHidden>Loading</VisuallyHidden>
      <Skeleton height="1.75rem" width="min(14rem, 60%)" mb="xl" />
      <Skeleton height="0.9rem" mb="sm" />
      <Skeleton height="0.9rem" width="80%" mb="sm" />
      <Skeleton height="0.9rem" width="65%" />
    </div>
  );
}
