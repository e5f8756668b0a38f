/** Anything that JSON can say. Numbers are finite; `undefined` stands for an absent key and is never stored. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object. In a World its keys are sorted and it is frozen. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}
