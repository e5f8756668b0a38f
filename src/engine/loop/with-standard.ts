import * as standard from '../../../components/index.ts'
import type { Component } from '../../world/component.ts'
import { lazily } from '../../base/lazily.ts'
import { tokensOf } from '../../world/restore.ts'

const standardTokens = lazily(() => tokensOf(standard))

/** The standard components and these, each once: what a stored world may contain. */
export function withStandard(components: Iterable<Component>): Component[] {
  return [...new Set([...standardTokens(), ...tokensOf(components)])]
}
