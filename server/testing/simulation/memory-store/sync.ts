/** The methods of a port as synchronous functions: each is one transaction on the tables. */
export type Sync<Port> = {
  [Method in keyof Port]: Port[Method] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};
