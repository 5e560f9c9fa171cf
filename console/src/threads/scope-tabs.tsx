import { Link } from '@tanstack/react-router';
import { threadPlaces } from '../app/places.ts';
import classes from './threads.module.css';

/** Mine and Published. They are pages, with addresses of their own; the filter goes along. */
export function ScopeTabs() {
  return (
    <nav aria-label="Which threads" className={classes.tabs}>
      {threadPlaces.map(({ to, label, hint }) => (
        <Link
          key={to}
          to={to}
          search={(kept) => kept}
          className={classes.tab ?? ''}
          title={hint}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
