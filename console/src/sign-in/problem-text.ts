import type { SignInProblem } from '../api/contract.ts';

/** Why single sign-on, or the application itself, redirected here. */
type Problem = SignInProblem | 'session-ended';

export function problemText(problem: string): string {
  return Object.hasOwn(problems, problem) ? problems[problem as Problem] : problems.failed;
}

const problems: Record<Problem, string> = {
  'session-ended': 'Your session has ended. Sign in to continue.',
  'provider-unavailable': 'We couldn’t reach your identity provider. Try again or use your password.',
  cancelled: 'Sign-in with your identity provider was cancelled.',
  expired: 'Sign-in timed out. Try again.',
  unverified:
    'Your identity provider hasn’t verified your email address. Verify it there or use your password.',
  'unknown-person': 'No account has this email address. Ask an admin of your organization for an invitation.',
  failed: 'Sign-in with your identity provider failed. Try again or use your password.',
};
