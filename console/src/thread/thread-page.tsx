import { Page } from '../app/page.tsx';

export function ThreadPage() {
  return <Page title="Thread">…</Page>;
}
