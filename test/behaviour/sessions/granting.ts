import type { SubagentConfig } from 'entia'
import { DelegationLimits } from 'entia/components'
import { program, type Program } from './program.ts'
import { once } from './sleepy-team.ts'
import type { TeamOptions } from './team.ts'

/** A subagent that may delegate to its like. */
export const nested: Partial<SubagentConfig> = { inheritancePolicy: { inheritTools: ['subagent'] } }
/** A subagent that may look. */
export const looking: Partial<SubagentConfig> = { tools: ['look'] }
/** A thousand tokens of the workers' model cost a dollar. */
export const dollarPerThousand = { 'worker/x': { input: 1_000, output: 1_000 } }

/** A program whose lead may delegate so much. */
export function limited(limits: Parameters<typeof DelegationLimits>[0], options: TeamOptions = {}): Promise<Program> {
  return program({ ...options, parts: [DelegationLimits(limits)] })
}

/** Launches so many sessions, and resolves when they run. */
export async function running(made: Program, ...prompts: string[]): Promise<void> {
  for (const prompt of prompts) await made.subagents.spawn({ category: 'researcher', prompt })
  await once(made, () => made.sessions().every(({ status }) => status !== 'queued'))
}

/** What the lead's sessions were granted, by sequence. */
export function grants({ sessions }: Program) {
  return sessions().map(({ grant }) => grant)
}
