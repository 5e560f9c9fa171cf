import { Page } from '../app/page.tsx';

export function MembersPage() {
  return <Page title="Members">…</Page>;
}
