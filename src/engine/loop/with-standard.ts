import * as standard from '../../../components/index.ts'
import type { Component } from '../../world/component.ts'
import { lazily } from '../../world/lazily.ts'
import { tokensOf } from '../../world/restore.ts'

/** Looked through once, at the first need: a run of few steps takes little longer than that. */
const standardTokens = lazily(() => tokensOf(standard))

/** The standard components and these, each once: what may be in a world that comes out of a store. */
export function withStandard(components: Iterable<Component>): Component[] {
  return [...new Set([...standardTokens(), ...tokensOf(components)])]
}
