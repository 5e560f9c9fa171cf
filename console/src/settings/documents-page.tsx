import { Page } from '../app/page.tsx';

export function DocumentsPage() {
  return <Page title="Documents">…</Page>;
}
