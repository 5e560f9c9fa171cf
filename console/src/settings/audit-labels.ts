import { counted } from '../app/format-count.ts';
import { formatDateTime } from '../app/format-time.ts';

/** The actions of the audit log in words. An unknown action is shown as it is. */
export const actions: Record<string, string> = {
  'organization.created': 'Created the organization',
  'organization.changed': 'Changed the organization',
  'member.added': 'Added a member',
  'member.invited': 'Created an invitation link',
  'member.mail-failed': 'Couldn’t deliver an invitation email',
  'member.joined': 'Accepted an invitation',
  'member.role-changed': 'Changed a member’s role',
  'member.removed': 'Removed a member',
  'session.started': 'Signed in',
  'session.refused': 'Failed sign-ins',
  'session.ended': 'Signed out',
  'session.ended-everywhere': 'Signed out everywhere',
  'password.changed': 'Changed the password',
  'password.link-requested': 'Requested a link to choose a new password',
  'password.voided': 'Removed a password set before the email was verified',
  'key.created': 'Created an API key',
  'key.requested': 'Requested an API key',
  'key.approved': 'Approved a key request',
  'key.declined': 'Declined a key request',
  'key.revealed': 'Revealed an approved API key',
  'key.rotated': 'Rotated an API key',
  'key.revoked': 'Revoked an API key',
  'application.created': 'Created an application',
  'application.rotated': 'Rotated an application’s secret',
  'application.deleted': 'Deleted an application',
  'signing-key.rotated': 'Rotated the key that signs access tokens',
  'audit.exported': 'Exported the audit log',
  'model.tested': 'Tested the model',
  'question.tested': 'Tested a question',
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

type Value = string | number | boolean | null;

/** The details of entries in words. An empty text is left out; an unknown detail is shown as it is. */
const details: Record<string, (value: Value) => string> = {
  accountId: (id) => `Account ${id}`,
  apiEnabled: (enabled) => (enabled ? 'API enabled' : 'API disabled'),
  dailyQuota: (quota) => `${counted(Number(quota), 'request')} per day`,
  email: (email) => `${email}`,
  failures: (failures) => counted(Number(failures), 'attempt'),
  forget: (forget) => (forget ? 'Earlier tokens are invalid' : ''),
  from: (day) => `From ${day}`,
  hint: (hint) => `Key ${hint}`,
  keysRevoked: (keys) => `${counted(Number(keys), 'API key')} revoked`,
  mailed: (mailed) => (mailed ? 'Sent by email' : ''),
  message: (id) => `Message ${id}`,
  model: (model) => `Model: ${model}`,
  name: (name) => `Name: ${name}`,
  oldValidUntil: (time) => `Old key valid until ${formatDateTime(new Date(String(time)))}`,
  owner: (owner) => `Owner: ${owner}`,
  passages: (passages) => counted(Number(passages), 'passage'),
  password: (kind) => passwords[String(kind)] ?? `Password: ${kind}`,
  networks: (networks) => `From ${counted(Number(networks), 'network')}`,
  proof: (proof) => (proof === 'sso' ? 'With single sign-on' : 'With a password'),
  reason: (reason) => `${reason}`,
  request: (id) => `Request ${id}`,
  resets: (resets) => (resets ? 'For a password reset' : ''),
  role: (role) => `Role: ${role}`,
  scope: (scope) => (scope === 'personal' ? 'Personal key' : 'Org-wide key'),
  service: (service) => (service ? 'Service account' : ''),
  to: (day) => `Until ${day}`,
  successor: (id) => `New key ${id}`,
};

/** How a person who accepted an invitation signs in. */
const passwords: Record<string, string> = {
  chosen: 'With a new password',
  proven: 'With the existing password',
  none: 'With single sign-on',
};

/** `Role: admin · Service account`, without what is shown as the target. */
export function describeDetail(detail: Readonly<Record<string, Value>>, target: string | null): string {
  return Object.entries(detail)
    .filter(([, value]) => value !== null && value !== '' && value !== target)
    .map(([name, value]) => details[name]?.(value) ?? `${name}: ${value}`)
    .filter((text) => text !== '')
    .join(' · ');
}
