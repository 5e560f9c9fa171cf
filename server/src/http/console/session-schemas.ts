import { memberRoles } from '../../domain/organization.ts';
import { passwordLengthMax, type passwordLengthMin, type SignInProblem } from '../../domain/sign-in.ts';
import { boolean, integer, nullable, object, string, Type, text } from '../schema.ts';

const email = text(0, 320);
// Above the limit, so that the use case can explain why a longer password is rejected.
const password = text(0, 2 * passwordLengthMax);
const token = Type.String({ maxLength: 128 });

/** The console checks it as well, and does not compile with another value. */
export type PasswordLengthMin = typeof passwordLengthMin;

export const signInBody = object({ email, password });

export const passwordBody = object({ current: password, next: password });

export const invitationBody = object({ token });

export const acceptInvitationBody = object({ token, password });

export const passwordLinkBody = object({ email });

/** The ways to sign in. `sso` names the provider where single sign-on is configured. */
export const signInOfferSchema = object({
  sso: nullable(object({ name: string })),
  /** Whether a person can ask for an email with a link to choose a new password. */
  passwordLinks: boolean,
});

/** In the URL of the sign-in page: `/sign-in?problem=…`. */
export type { SignInProblem };

export const role = Type.Enum([...memberRoles]);

export const organizationSchema = object({
  id: string,
  name: string,
  role,
  /** Whether the public API is enabled for the organization. */
  apiEnabled: boolean,
});

/** The limits that the page checks or shows. Lengths are in code points. */
export const limitsSchema = object({
  promptLengthMax: integer,
  titleLengthMax: integer,
  linkLengthMax: integer,
  nameLengthMax: integer,
  ratingCommentLengthMax: integer,
  documentBytesMax: integer,
});

export const sessionSchema = object({
  user: object({ id: string, email: string }),
  /** Sent as `X-Skein-CSRF` with every request but GET. Without a session the header's value is `none`. */
  csrfToken: string,
  /** How the session was started. A person who signed in through a provider has no password to change. */
  proof: Type.Enum(['password', 'sso']),
  limits: limitsSchema,
  /** The organizations that this session may enter. Empty only while there are invitations. */
  organizations: Type.Array(organizationSchema),
  /** Organizations that added the person, who has not accepted yet. Listed only after single sign-on. */
  invitations: Type.Array(object({ id: string, name: string })),
});

export const invitationSchema = object({
  email: string,
  organization: string,
  /** Whether it sets a new password for a person who has already joined. */
  resets: boolean,
  /** Whether using it revokes API keys. */
  endsKeys: boolean,
  /** How many other organizations the person has to join again after using it. Their names are not for everyone with the link. */
  endsMemberships: integer,
  /**
   * `choose`: set a new password. `prove`: enter the existing one. `sso`: sign in through the provider. `operator`: ask the
   * operator for a link.
   */
  password: Type.Enum(['choose', 'prove', 'sso', 'operator']),
});
