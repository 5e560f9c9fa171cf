import { Link } from '@tanstack/react-router';
import { threadPages } from '../app/navigation.ts';
import classes from './threads.module.css';

/** Links to both lists of threads. They keep the filter. */
export function ScopeTabs() {
  return (
    <nav aria-label="Thread lists" className={classes.tabs}>
      {threadPages.map(({ to, label, hint }) => (
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
