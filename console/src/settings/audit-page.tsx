import { Page } from '../app/page.tsx';

export function AuditPage() {
  return <Page title="Audit">…</Page>;
}
