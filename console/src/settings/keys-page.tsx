import { Page } from '../app/page.tsx';

export function KeysPage() {
  return <Page title="Keys">…</Page>;
}
