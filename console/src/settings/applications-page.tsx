import { Page } from '../app/page.tsx';

export function ApplicationsPage() {
  return <Page title="Applications">…</Page>;
}
