import { isStorable, printable, visibleCharacter } from '../../../runtime/src/pure/text.ts';
import { invalid } from './errors.ts';
import { limits } from './limits.ts';

export function checkName(subject: string, name: string, lengthMin: number): void {
  const lengthMax = limits.nameLengthMax.default;
  const length = [...name].length;
  const refuse = (fault: string) => {
    throw invalid(`${subject} ${fault}.`);
  };
  if (!isStorable(name)) refuse('must not contain NUL characters or unpaired surrogates');
  // A name with them could imitate another name.
  if (printable(name) !== name) refuse('must not contain control characters');
  if (name !== '' && !visibleCharacter.test(name)) refuse('must contain at least one visible character');
  if (length < lengthMin || length > lengthMax) refuse(`must have ${lengthMin} to ${lengthMax} characters`);
}
