import { Type } from 'typebox';

export const threadPath = Type.Object({ id: Type.String() });

/** What can be kept, and measures at most so many code points. */
export const text = (lengthMin: number, lengthMax: number) =>
  Type.String({ format: 'text', minLength: lengthMin, maxLength: lengthMax });
