import type { ProviderError } from './provider-failure.ts'
import { causesOf } from './wire-values.ts'

/** What a provider says in place of an answer. An SDK passes it on or wraps it. */
export class NoAnswer extends Error {
  readonly said: ProviderError

  constructor(said: ProviderError) {
    // No text of the provider: the SDKs look for "timed out" in messages.
    super('The provider sent no answer.')
    this.said = said
  }
}

/** Finds it within what an SDK throws. */
export function saidIn(error: unknown): ProviderError | undefined {
  return causesOf(error).find((cause) => cause instanceof NoAnswer)?.said
}
