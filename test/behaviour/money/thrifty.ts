import { defineTool, type Entity, LastTurn, type RunnerOptions, type ScriptedBehaviour, type World } from 'entia'
import type { Ceilings } from 'entia/context'
import { z } from 'zod'
import { addAgent, behaving, driven, type Driven, emptyWorld } from '../turns/driving.ts'

export const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'Nothing.',
})

/** A million tokens cost ten dollars: each call of these models a cent. */
export const prices = { 'scripted/x': { input: 10, output: 10 } }
export const cent = { input: 1_000, output: 0 }

/** Looks, and looks again. */
export const restless: ScriptedBehaviour = () => ({ toolCalls: [{ name: 'look' }] })
/** Says that it is done, at once. */
export const brief: ScriptedBehaviour = () => 'Done.'

interface Scene {
  readonly behaviour?: ScriptedBehaviour
  readonly ceilings: Parameters<typeof Ceilings>[0]
  readonly usage?: Parameters<typeof behaving>[1]
  readonly runner?: RunnerOptions
  readonly messages?: string | undefined
}

/** A world with an agent under ceilings, that was told to go. */
export function scene({
  behaviour = restless,
  ceilings,
  usage = { usage: cent },
  runner = {},
  messages = 'Go',
}: Scene) {
  const { models, requests } = behaving(behaviour, usage)
  const world = emptyWorld()
  const agent = addAgent(world, { tools: [look], messages, config: { ceilings } })
  const options: RunnerOptions = { models, tools: [look], prices, ...runner }
  return { ...driven(world, options), agent, options, requests }
}

/** The same, until nothing is in flight and nothing is due. */
export async function ran(parts: Scene) {
  const made = scene(parts)
  await made.runner.start()
  await made.runner.idle()
  return made
}

export function stopOf(world: World, agent: Entity) {
  const { stop, steps } = world.read(agent, LastTurn)
  return { stop, steps }
}

export function errors({ told }: Driven) {
  return told('turn-error').map(({ kind, message, refused, retryable }) => ({ kind, message, refused, retryable }))
}
