import {
  agent,
  type Approve,
  type Clock,
  defineTool,
  fail,
  type JsonObject,
  Llm,
  type ModelProvider,
  type ModelRequest,
  Runner,
  scripted,
  type ScriptedOptions,
  standardSystems,
  type Store,
  SubagentRegistry,
  textOf,
  type Tool,
  VirtualClock,
  World,
} from 'entia'
import { OutputSchema } from 'entia/components'
import { z } from 'zod'

/** What may be another one in a world than in that which was recorded. */
export interface OfficeEdits {
  readonly system?: string
  readonly task?: string
  readonly lookDescription?: string
  readonly temperature?: number
  readonly schema?: JsonObject
  readonly seed?: number
  /** Its seed is left out. */
  readonly isSeedless?: boolean
}

/** The entities of the office. */
export const lead = 1
export const clerk = 2

function lookTool(description: string, sleepMs: number): Tool {
  return defineTool({
    name: 'look',
    description,
    input: z.object({ at: z.string() }),
    restart: 'pure',
    run: async ({ at }, { sleep }) => {
      await sleep(at.length * sleepMs)
      if (at === 'nowhere') throw new Error('There is no such place.')
      return `nothing at ${at}`
    },
  })
}

const send = defineTool({
  name: 'send',
  description: 'Sends a letter.',
  input: z.object({ letter: z.string() }),
  restart: 'once',
  approval: true,
  run: ({ letter }) => `sent: ${letter}`,
})

export function officeTools({ lookDescription = 'Looks somewhere.' }: OfficeEdits = {}, sleepMs = 10): readonly Tool[] {
  return [lookTool(lookDescription, sleepMs), send]
}

function leadBehaviour({ messages }: ModelRequest, { attempt }: { readonly attempt: number }) {
  const delegate = (prompt: string) => ({
    name: 'subagent',
    arguments: { category: 'scout', prompt, background: true },
  })
  const look = (at: string) => ({ name: 'look', arguments: { at } })
  switch (messages.filter(({ role }) => role === 'assistant').length) {
    case 0:
      return { toolCalls: [delegate('alpha'), delegate('beta'), look('home')] }
    case 1:
      return attempt === 1 ? fail('overloaded') : { toolCalls: [look('nowhere'), look('sea')] }
    case 2:
      return { toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] }
    default:
      return 'All are back.'
  }
}

function scoutBehaviour({ messages }: ModelRequest) {
  if (messages.some(({ role }) => role === 'tool')) return `Seen ${textOf(messages.at(0))}.`
  return { toolCalls: ['north', 'east'].map((at) => ({ name: 'look', arguments: { at } })) }
}

function clerkBehaviour({ messages }: ModelRequest) {
  const last = messages.at(-1)
  if (last?.role === 'tool') return 'Done.'
  return { toolCalls: [{ name: 'send', arguments: { letter: last === undefined ? '' : textOf(last) } }] }
}

export function officeModels(latencyMs: ScriptedOptions['latencyMs'] = [20, 400]): Record<string, ModelProvider> {
  const retry = { maxAttempts: 3, firstDelayMs: 5, maxDelayMs: 50, kinds: ['overloaded' as const] }
  return {
    lead: scripted(leadBehaviour, { ...(latencyMs !== undefined && { latencyMs }), retry }),
    scout: scripted(scoutBehaviour, { ...(latencyMs !== undefined && { latencyMs }) }),
    clerk: scripted(clerkBehaviour, { ...(latencyMs !== undefined && { latencyMs }) }),
  }
}

/** A lead that sends two scouts, and a clerk who writes a letter when told to, which a user has to agree to. */
export function officeWorld({
  seed = 7,
  isSeedless = false,
  system = 'Be brief.',
  task = 'Go',
  temperature,
  schema,
  ...edits
}: OfficeEdits = {}): World {
  const world = new World({ name: 'office', ...(!isSeedless && { seed }), systems: standardSystems() })
  const [look] = officeTools(edits) as [Tool]
  const scouts = { scout: { name: 'scout', model: 'scout/x', tools: ['look'] } }
  world.spawn(
    ...agent({ model: 'lead/x', system, messages: task, tools: [look] }),
    SubagentRegistry({ subagents: scouts }),
  )
  if (schema !== undefined) world.add(lead, OutputSchema({ schema }))
  if (temperature !== undefined) world.patch(lead, Llm, { temperature })
  world.spawn(...agent({ model: 'clerk/x', system: 'You are the clerk.', tools: [send], messages: 'Hello' }))
  return world
}

export interface RecordedRun {
  readonly world: World
  readonly ticks: number
}

/** Runs the office with `record: true`; when all is quiet, the clerk is told something more. */
export async function recordOffice(
  store: Store,
  {
    clock = new VirtualClock(),
    latencyMs,
    sleepMs,
    approve = () => true,
    record = true,
    world = officeWorld(),
  }: {
    readonly clock?: Clock
    readonly latencyMs?: ScriptedOptions['latencyMs']
    readonly sleepMs?: number
    readonly approve?: Approve
    readonly record?: boolean
    readonly world?: World
  } = {},
): Promise<RecordedRun> {
  const models = officeModels(latencyMs)
  const tools = officeTools({}, sleepMs)
  const runner = new Runner(world, { store, record, clock, models, tools, approve })
  await runner.start()
  await runner.idle()
  await runner.message(clerk, 'Once more')
  await runner.idle()
  const { ticks } = runner.stats
  await runner.stop()
  return { world: runner.world, ticks }
}
