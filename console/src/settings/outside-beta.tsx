import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { EmptyState } from './empty-state.tsx';

/** Instead of credentials, of which an organization outside the beta gets none. */
export function OutsideBeta({ title }: { title: string }) {
  const { name } = useOrganization();
  return (
    <Page title={title}>
      <EmptyState title="The public API is in beta">
        {name} isn’t part of the beta yet, so you can’t create credentials. Threads, documents and members
        work as usual. To join the beta, contact the operator of this service.
      </EmptyState>
    </Page>
  );
}
