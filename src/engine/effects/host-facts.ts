import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import { RetryPolicy } from '../../protocol/failure.ts'
import type { ModelProvider } from '../../models/port.ts'
import type { SkillDefinition } from '../children/port.ts'
import { declarationHash } from '../../rules/delegation/hashes.ts'
import type { Tool } from '../../tools/port.ts'
import { canonical } from '../../world/canonical.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { issueText } from '../../world/issue-text.ts'
import { fingerprint } from '../../world/random.ts'
import type { World } from '../../world/world.ts'

/** The facts of a Host that systems decide by; a World gets them at a start. */
export function factsOf(
  providers: Readonly<Record<string, ModelProvider>>,
  tools: readonly Tool[],
  skills: ReadonlyMap<string, SkillDefinition>,
): HostFactsData {
  const retry: Record<string, RetryPolicy | false> = {}
  const settings: Record<string, number> = {}
  for (const [name, provider] of Object.entries(providers)) {
    if (provider.retry !== undefined) retry[name] = checkedRetry(name, provider.retry)
    if (provider.settings !== undefined) settings[name] = settingsHash(provider)
  }
  return canonical(
    {
      retry,
      ...filled('settings', settings),
      ...filled('skills', Object.fromEntries([...skills].map(([name, skill]) => [name, hashesOf(skill.tools ?? [])]))),
      ...filled('tools', hashesOf(tools)),
    },
    () => 'what a World is told of its Host',
  ) as HostFactsData
}

function checkedRetry(name: string, retry: RetryPolicy | false): RetryPolicy | false {
  const issue = retry === false ? undefined : RetryPolicy().safeParse(retry).error?.issues[0]
  if (issue === undefined) return retry
  throw new EntiaError('invalid-argument', `Host: models.${name}: retry${issueText(issue)}.`, { option: 'models' })
}

const noFacts: HostFactsData = { retry: {} }

export function newFacts(world: World, facts: HostFactsData): HostFactsData | undefined {
  const [known] = world.entitiesWith(HostFacts)
  const before = known === undefined ? noFacts : world.read(known, HostFacts)
  return before === facts || JSON.stringify(before) === JSON.stringify(facts) ? undefined : facts
}

function hashesOf(tools: readonly Tool[]): Record<string, number> {
  return Object.fromEntries(tools.map(({ declaration }) => [declaration.name, declarationHash(declaration)]))
}

function settingsHash({ settings }: ModelProvider): number {
  return fingerprint(JSON.stringify(canonical(settings, () => "a provider's settings"))) % 2 ** 31
}

function filled(name: string, values: object): object {
  return Object.keys(values).length === 0 ? {} : { [name]: values }
}
