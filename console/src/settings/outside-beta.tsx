import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { EmptyState } from './empty-state.tsx';

/** Instead of credentials, of which an organization outside the beta gets none. */
export function OutsideBeta({ title }: { title: string }) {
  const { name } = useOrganization();
  return (
    <Page title={title}>
      <EmptyState title="The public API is in beta">
        {name} is not part of it yet, so there are no credentials to make here. Everything else in the console
        works: threads, documents and members. To take part, ask whoever runs this service to let {name} in.
      </EmptyState>
    </Page>
  );
}
