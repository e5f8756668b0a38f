import { defineTool, fail, type Store, type SubagentConfig } from 'entia'
import { expect } from 'vitest'
import { z } from 'zod'
import { program, type Program, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, stepwise } from './team.ts'

/** How a session ended, and how to bring that about. */
type Ending = 'failed by its model' | 'failed by its step limit' | 'timed out' | 'cancelled'
export const endings: readonly Ending[] = ['failed by its model', 'failed by its step limit', 'timed out', 'cancelled']
const statuses = {
  'failed by its model': 'failed',
  'failed by its step limit': 'failed',
  'timed out': 'timed_out',
  cancelled: 'cancelled',
} as const

interface Broken extends Program {
  /** Runs of the tool so far. */
  readonly looks: () => number
}

/** Asks its tool twice, and meets its end in its third step, or, once that has been, answers. */
function worker(ending: Ending, hasEnded: () => boolean): Behaviour {
  const again = calls(call('look', 'look'))
  return stepwise(
    again,
    again,
    async (request, context) => {
      if (hasEnded()) return 'All seen.'
      switch (ending) {
        case 'failed by its model':
          return fail('refused', { message: 'boom' })
        case 'failed by its step limit':
          return again
        case 'timed out':
          await context.sleep(10_000)
          return 'Too late.'
        case 'cancelled':
          return stuck(request, context)
      }
    },
    'All seen.',
  )
}

/** A team whose one session has just ended so. */
export async function broken(ending: Ending, store?: Store): Promise<Broken> {
  let looks = 0
  let hasEnded = false
  const counted = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    restart: 'pure',
    run: () => `look ${++looks}`,
  })
  const config: Partial<SubagentConfig> = { tools: ['look'], ...(ending.includes('step') && { maxSteps: 3 }) }
  const made = await program({
    subagents: { researcher: config },
    worker: worker(ending, () => hasEnded),
    runner: { tools: [counted], ...(store !== undefined && { store }) },
  })
  const timeoutMs = ending === 'timed out' ? 1_000 : undefined
  await made.subagents.spawn({ category: 'researcher', prompt: 'Look around', timeoutMs })
  if (ending === 'cancelled') {
    await once(made, () => made.asked('worker').length === 3)
    await made.subagents.cancel(1)
  }
  await made.runner.idle()
  hasEnded = true
  expect(made.sessions()[0]?.status).toBe(statuses[ending])
  return { ...made, looks: () => looks }
}
