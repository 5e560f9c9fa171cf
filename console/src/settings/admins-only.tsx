import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { EmptyState } from './empty-state.tsx';

/** A page that is not this person's: they came by a link, since the menu does not offer it. */
export function AdminsOnly({ title }: { title: string }) {
  const { name } = useOrganization();
  return (
    <Page title={title}>
      <EmptyState title="This page is for admins">
        Only admins of {name} can open this page. Ask an admin to make you one.
      </EmptyState>
    </Page>
  );
}
