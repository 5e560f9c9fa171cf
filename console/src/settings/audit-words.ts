/** The actions of the audit log in words. An unknown action is shown as it is. */
export const actions: Record<string, string> = {
  'organization.created': 'Created the organization',
  'organization.changed': 'Changed the organization',
  'member.added': 'Added a member',
  'member.invited': 'Created an invitation link',
  'member.mail-failed': 'Could not deliver an invitation by mail',
  'member.joined': 'Accepted an invitation',
  'member.role-changed': "Changed a member's role",
  'member.removed': 'Removed a member',
  'session.started': 'Signed in',
  'session.refused': 'Failed sign-ins',
  'session.ended-everywhere': 'Signed out everywhere',
  'password.changed': 'Changed the password',
  'password.link-requested': 'Asked for a link to choose a new password',
  'password.voided': 'Removed a password set before the email was verified',
  'key.created': 'Created an API key',
  'key.requested': 'Requested an API key',
  'key.approved': 'Approved a key request',
  'key.declined': 'Declined a key request',
  'key.revealed': 'Revealed an approved API key',
  'key.rotated': 'Rotated an API key',
  'key.revoked': 'Revoked an API key',
  'application.created': 'Created an application',
  'application.rotated': "Rotated an application's secret",
  'application.deleted': 'Deleted an application',
  'document.added': 'Added a document',
  'document.replaced': 'Replaced a document',
  'document.removed': 'Removed a document',
  'thread.published': 'Published a thread',
  'thread.unpublished': 'Unpublished a thread',
  'thread.deleted': 'Deleted a thread',
  'thread.restored': 'Restored a thread',
  'reply.failed': 'Reply failed',
};

export function describeAction(action: string): string {
  return actions[action] ?? action;
}

/** `role: admin · service: no`, without what is shown as the target. */
export function describeDetail(
  detail: Readonly<Record<string, string | number | boolean | null>>,
  target: string | null,
): string {
  return Object.entries(detail)
    .filter(([, value]) => value !== null && value !== '' && value !== target)
    .map(([name, value]) => `${name}: ${typeof value === 'boolean' ? (value ? 'yes' : 'no') : value}`)
    .join(' · ');
}
