import { z } from 'zod'
import { Paused } from '../../components/agent/agent-tags.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import type { WorldCommands } from '../engine/effects/host-seams.ts'
import { schemaIssues } from '../rules/text/schema-issues.ts'
import { EntiaError } from '../base/entia-error.ts'
import { lazily } from '../base/lazily.ts'
import type { Abilities, Action, ActionReply } from './reading/wire.ts'
import type { CopyMaker, Source } from './source.ts'

const name = lazily(() => z.string().min(1).max(1_000))
const entity = lazily(() => z.number().int().positive())
const words = lazily(() => z.string().max(1_000_000))
const agentOf = lazily(() => ({ world: name(), agent: entity() }))
const maxAnswers = 1_000
const maxEdits = 100

const actionSchema = lazily(() =>
  z.discriminatedUnion('do', [
    z.strictObject({ do: z.literal('post'), ...agentOf(), text: words().min(1) }),
    z.strictObject({
      do: z.literal('answer'),
      answers: z
        .array(
          z.strictObject({
            world: name(),
            approval: name(),
            approved: z.boolean(),
            reason: words().optional(),
          }),
        )
        .min(1)
        .max(maxAnswers),
    }),
    z.strictObject({ do: z.literal('cancel'), ...agentOf(), reason: words().optional() }),
    z.strictObject({ do: z.literal('cancel-session'), world: name() }),
    z.strictObject({ do: z.enum(['pause', 'go-on']), ...agentOf() }),
    z.strictObject({ do: z.literal('reset-ceiling'), ...agentOf(), addSessionUsd: z.number().positive().optional() }),
    z.strictObject({
      do: z.literal('fork'),
      world: name(),
      tick: z.number().int().nonnegative(),
      name: name().optional(),
      edits: z
        .array(
          z.strictObject({
            entity: entity(),
            component: name(),
            value: z.json(),
            index: z.number().int().nonnegative().optional(),
          }),
        )
        .max(maxEdits)
        .optional(),
      driver: z.enum(['host', 'recording', 'none']),
    }),
    z.strictObject({
      do: z.literal('reply'),
      world: name(),
      question: name(),
      how: z.enum(['run', 'give', 'refuse']),
      text: words().optional(),
    }),
    z.strictObject({ do: z.literal('shrink') }),
  ]),
)

/** What a page may not do here. */
export class ForbiddenError extends Error {}

/** Does what a page asks for, by the Runner's own calls. @throws ForbiddenError, `invalid-argument`, and what those calls throw */
export async function act(source: Source, can: Abilities, given: unknown): Promise<ActionReply> {
  const { data, error } = actionSchema().safeParse(given)
  if (error !== undefined) throw new EntiaError('invalid-argument', `act: ${schemaIssues(error)}.`)
  const action = data as Action
  switch (action.do) {
    case 'fork': {
      const copies = copiesOf(source, can)
      if (!copies.drivers.includes(action.driver))
        throw new ForbiddenError(
          'The models of the program drive a copy only where the program itself serves the page.',
        )
      return { ok: true, world: await copies.make(action), tick: action.tick }
    }
    case 'reply':
      copiesOf(source, can).reply(action)
      return { ok: true }
    case 'shrink': {
      const { shrink } = source
      if (shrink === undefined) {
        const advice = 'Open the run with its story: entia inspect FILE --with story.ts.'
        throw new ForbiddenError(`The story of this run is not known here, so that it cannot be run again. ${advice}`)
      }
      return { ok: true, run: await shrink() }
    }
    case 'answer':
      await answered(source, can, action)
      return { ok: true }
    default: {
      const tick = await done(commandsIn(source, can, action.world), source, action)
      return { ok: true, ...(tick !== undefined && { tick }) }
    }
  }
}

type OfOneWorld = Exclude<Action, { do: 'fork' | 'reply' | 'shrink' | 'answer' }>

async function done(commands: WorldCommands, source: Source, action: OfOneWorld): Promise<number | undefined> {
  switch (action.do) {
    case 'post':
      return commands.message(action.agent, action.text)
    case 'cancel':
      await commands.cancel(action.agent, action.reason)
      return undefined
    case 'cancel-session':
      await cancelSession(source, action.world)
      return undefined
    case 'pause':
      await commands.change((world) => world.add(action.agent, Paused))
      return undefined
    case 'go-on':
      await commands.change((world) => world.remove(action.agent, Paused))
      return undefined
    case 'reset-ceiling':
      await commands.resetCostCeiling(action.agent, { addSessionUsd: action.addSessionUsd })
      return undefined
  }
}

async function answered(source: Source, can: Abilities, { answers }: Extract<Action, { do: 'answer' }>): Promise<void> {
  // All may be answered, or none is.
  const each = answers.map((answer) => ({ answer, commands: asked(source, can, answer.world) }))
  for (const { answer, commands } of each) {
    const { approval, approved, reason, world } = answer
    if (approved && source.copies?.has(world) === true) source.copies.approved(world, approval)
    await commands.post({ kind: 'answer', approval, approved, ...(reason !== undefined && { reason }) })
  }
}

/** Who passes an answer on: the world that asks, or the root, which waits until all below it are driven again. */
function asked(source: Source, can: Abilities, world: string): Pick<WorldCommands, 'post'> {
  const { runner } = source
  if (can.act && runner !== undefined && source.driven?.(world) === undefined) return runner
  return commandsIn(source, can, world)
}

/** A session is ended by the world that launched it. */
async function cancelSession(source: Source, session: string): Promise<void> {
  const above = source.driven?.(session)?.path.at(-2) ?? source.driven?.(session)?.root
  const parent = above === undefined ? undefined : source.driven?.(above)
  const launched = parent?.world
    .entitiesWith(SubagentSession)
    .map((entityOf) => parent.world.read(entityOf, SubagentSession))
    .find(({ sessionId }) => sessionId === session)
  if (parent === undefined || launched === undefined) {
    const what = `World '${session}' is no session that runs now`
    throw new EntiaError('invalid-argument', `${what}. To end what an agent does, cancel the agent.`, {
      world: session,
    })
  }
  await parent.commands.subagents(launched.parent).cancel(session)
}

/** The calls of the Runner that drives a world. */
function commandsIn(source: Source, can: Abilities, world: string): WorldCommands {
  const isCopy = source.copies?.has(world) === true
  if (!can.act && !(isCopy && can.fork)) throw new ForbiddenError(off)
  const driven = source.driven?.(world)
  if (driven !== undefined) return driven.commands
  const what = `World '${world}' is not driven here now`
  const advice = isCopy
    ? 'Make a copy that is driven.'
    : 'It rests, or another process has it. Ask its root, or open the page there.'
  throw new EntiaError('invalid-argument', `${what}. ${advice}`, { world })
}

function copiesOf({ copies }: Source, can: Abilities): CopyMaker {
  if (copies !== undefined && can.fork) return copies
  throw new ForbiddenError(copies === undefined ? noPlace : off)
}

const off = 'Actions are off: this inspector only shows. Open it with actions: true where the Runner lives.'
const noPlace = 'Copies have no place here. Name one: entia inspect STORE --out FOLDER.'
