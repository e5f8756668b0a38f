import { type Awaited, awaitedBy, type OpenThing } from '../../rules/waiting/awaited.ts'
import type { Entity } from '../../world/component.ts'
import { type RawView, read, type StandardName } from './raw-view.ts'

const answering: readonly (readonly [StandardName, OpenThing['answeredBy']])[] = [
  ['AwaitingReply', 'reply'],
  ['AwaitingSession', 'session'],
]

/** What an open effect of a saved or living world waits for, by the rule that engine and systems use; `undefined`: it is none. */
export function awaitedInView(world: RawView, entity: Entity): Awaited | undefined {
  const effect = read(world, entity, 'Effect')
  if (effect === undefined || world.value(entity, 'Outcome') !== undefined) return undefined
  return awaitedBy({
    answeredBy: answering.find(([name]) => world.value(entity, name) !== undefined)?.[1],
    deadlineMs: effect.deadlineMs,
    dueMs: read(world, entity, 'Due')?.atMs,
    isRunning: world.value(entity, 'Running') !== undefined,
    kind: effect.kind,
  })
}
