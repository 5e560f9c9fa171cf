export function MinePage() {
  return null;
}

export function PublishedPage() {
  return null;
}
