import type { StoreCommand } from './command.ts';

export const signingKeyRotate: StoreCommand = {
  name: 'signing-key rotate',
  usage: '[--forget]',
  summary: 'Sign access tokens with a new key; --forget voids all tokens of the old one now',
  positionals: [],
  options: { forget: { type: 'boolean' } },
  async run({ accessTokens }, args) {
    const forget = args.options.forget === true;
    const id = await accessTokens.rotateKey(forget);
    const old = forget
      ? 'All access tokens issued before are void.'
      : 'Tokens of the old key stay good until they expire.';
    return { json: { id, forget }, text: `Signing with ${id} from now on. ${old}` };
  },
};
