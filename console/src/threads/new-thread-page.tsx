export function NewThreadPage() {
  return null;
}
