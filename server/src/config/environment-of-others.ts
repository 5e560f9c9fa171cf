/** For programs that we start but that are not ours: no settings of the service, its database and its telemetry, some of which are secret. */
export function environmentOfOthers(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(?:SKEIN_|PG|OTEL_)/.test(name)),
  );
}
