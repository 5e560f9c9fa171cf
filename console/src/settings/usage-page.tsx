import { Page } from '../app/page.tsx';

export function UsagePage() {
  return <Page title="Usage">…</Page>;
}
