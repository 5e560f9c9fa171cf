import type { StoreCommand } from './command.ts';

export const signingKeyRotate: StoreCommand = {
  name: 'signing-key rotate',
  usage: '[--forget]',
  summary: 'Sign access tokens with a new key; --forget invalidates all existing tokens now',
  positionals: [],
  options: { forget: { type: 'boolean' } },
  async run({ accessTokens }, args) {
    const forget = args.options.forget === true;
    const id = await accessTokens.rotateKey(forget);
    const old = forget
      ? 'All existing access tokens are invalid.'
      : 'Existing tokens stay valid until they expire.';
    return { json: { id, forget }, text: `Signing with ${id} from now on. ${old}` };
  },
};
